/** Real lines through the real worker: each arrives once, is valid, and keeps all its values. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { createIngestService, validateEntry } from '../../src/service/index.js'
import type { IngestService, StoredEntry } from '../../src/service/index.js'
import { missingLeaves } from '../record/leaves.js'
import { corpus, createMappingOptions } from '../record/record-lines.js'
import { runApp } from './run-app.js'

const KEY = 'corpus-key-0be1'
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-corpus-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The configurations of pino that wrote these lines, as options of the transport. */
const CONFIGURED: readonly [RegExp, Record<string, unknown>, Partial<MappingOptions>][] = [
  [/^messageKey=/, { pino: { messageKey: 'message' } }, { messageKey: 'message' }],
  [/^errorKey=/, { pino: { errorKey: 'error' } }, { errorKey: 'error' }],
  [/^nestedKey/, { pino: { nestedKey: 'payload' } }, { nestedKey: 'payload' }],
  [
    /custom ?levels/i,
    { pino: { customLevels: { audit: 35, bar: 100 } } },
    { levels: { 10: 'trace', 20: 'debug', 30: 'info', 35: 'audit', 40: 'warn', 50: 'error', 60: 'fatal', 100: 'bar' } },
  ],
  [/(?:)/, {}, {}],
]

/** In the order of writing, which one request at a time preserves. */
async function ship(
  lines: readonly string[],
  options: Record<string, unknown>,
): Promise<{ service: IngestService; stored: StoredEntry[] }> {
  const raw = join(folder, 'lines.ndjson')
  writeFileSync(raw, lines.map((line) => `${line}\n`).join(''))
  const service = await createIngestService({ apiKeys: [KEY], maxStoreBytes: 1 << 30 })
  const result = await runApp({
    mode: 'target',
    raw,
    options: {
      url: service.url,
      apiKey: KEY,
      sendLevel: 'trace',
      maxConcurrency: 1,
      requestTimeoutMs: 120_000,
      scrub: { keys: [] },
      ...options,
    },
    // On a busy machine the worker may need more than the 10 s that pino waits at exit.
    end: 'flush-all',
    flushTimeoutMs: 90_000,
    holds: false,
  })
  expect(result.code).toBe(0)
  expect(result.stderr).toMatch(/^(?:pino-ingest: a record of \d+ characters is incomplete.*\n)*$/)
  expect(service.requests.every(({ status, entries }) => status === 200 && Number(entries) <= 100)).toBe(true)
  expect(service.rejected().items).toEqual([])
  // In order of arrival, since the corpus has every kind of time.
  return { service, stored: service.entries({ limit: Infinity }).items.toSorted((a, b) => a.seq - b.seq) }
}

test(
  'every record of the corpus arrives once, valid, with every value in the right field',
  { timeout: 120_000 },
  async () => {
    const groups = new Map<number, typeof corpus>()
    for (const record of corpus) {
      const at = CONFIGURED.findIndex(([label]) => label.test(record.label))
      groups.set(at, [...(groups.get(at) ?? []), record])
    }
    expect(groups.size).toBe(CONFIGURED.length)
    for (const [at, records] of groups) {
      const [, options, mapping] = CONFIGURED[at] as (typeof CONFIGURED)[number]
      const { service, stored } = await ship(
        records.map(({ raw }) => raw),
        options,
      )
      expect(stored).toHaveLength(records.length)
      for (const [index, { label, raw }] of records.entries()) {
        const { entry } = stored[index] as StoredEntry
        expect(validateEntry(entry), label).toEqual([])
        expect(
          missingLeaves(raw, withoutStart(entry, stored[index - 1]?.entry), createMappingOptions(mapping)),
          label,
        ).toEqual([])
      }
      await service.close()
    }
  },
)

/** The entry of the end of a Fastify request, without the fields that come from the entry of its start. */
function withoutStart(entry: LogEntry, start: LogEntry | undefined): LogEntry {
  if (entry.message !== 'request completed' || start?.message !== 'incoming request') return entry
  expect(entry.request).toMatchObject(start.request ?? {})
  expect(entry.metadata?.['req']).toEqual(start.metadata?.['req'])
  const { req: _req, ...metadata } = entry.metadata ?? {}
  return { ...entry, metadata }
}
