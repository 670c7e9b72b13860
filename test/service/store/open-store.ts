/** Stores for tests. Files and stores are removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { Store } from '../../../src/service/store/store.js'
import type { StoreOptions } from '../../../src/service/store/store.js'
import { resolveStoreFile } from '../../../src/service/store/store-file.js'
import type { StoredEntry } from '../../../src/service/store/stored-record.js'
import { entryOf } from '../support.js'

export const START_MS = Date.parse('2026-01-31T08:00:00.000Z')

/** @param second of receipt, after the start */
export function storedEntry(seq: number, fields: Partial<LogEntry> = {}, second = 0): StoredEntry {
  const received_at = new Date(START_MS + second * 1000).toISOString()
  return { id: `ent_run_${seq.toString(36)}`, seq, received_at, batch_id: null, entry: entryOf(fields) }
}

export function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'store')
}

/** @param path of the journal; without one, the store is in memory */
export function openStore(
  path?: string,
  options: Partial<StoreOptions> = {},
): { readonly store: Store; readonly problems: readonly string[] } {
  const problems: string[] = []
  const file = path === undefined ? undefined : resolveStoreFile(path)
  const limits = { maxEntries: 1000, maxBytes: 1 << 26 }
  const store = new Store({ ...limits, ...options, file, onProblem: (text) => problems.push(text) })
  onTestFinished(() => store.close())
  return { store, problems }
}
