/** A spool root with what processes have left: closed, killed and running ones, and dead letters. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { RequestLog } from '../../../src/protocol/resources.js'
import type { IngestService } from '../../../src/service/index.js'
import { systemClock } from '../../../src/shared/clock.js'
import { toDeadLetterLine } from '../../../src/spool/dead-letter-file.js'
import { inspectRoot } from '../../../src/spool/inspect.js'
import type { FoundInstance } from '../../../src/spool/inspect.js'
import { readMachine } from '../../../src/spool/instance/ownership.js'
import { nameDestination } from '../../../src/spool/spool-root.js'
import { entryOf, requestLog } from '../../service/support.js'
import { ProcessRun, closeAcknowledgementLogs } from '../../spool/process-run.js'
import { runInProcess } from '../run-in-process.js'
import type { CommandResult } from '../run-in-process.js'

export const KEY = 'spool-key-5f0e77a1'
export const OTHER_KEY = 'spool-other-key-90d1'
export const DOWN = 'http://127.0.0.1:1/api/v1'
export const REQUESTS = `${DOWN}/ingest/requests`

/** Greater than any process id. */
const DEAD_PID = 5_000_000

export function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'pino-ingest-cli-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
export const entriesUpTo = (count: number): LogEntry[] => upTo(count).map((n) => entryOf({ metadata: { n } }))
export const logsUpTo = (count: number): RequestLog[] =>
  upTo(count).map((n) => ({ ...requestLog, path: `/n/${n}`, request_id: `id-${n}` }))

interface Leaving {
  readonly url?: string
  readonly apiKey?: string
  readonly service?: string
  /** `running` belongs to the parent of this process, which lives until the test ends. */
  readonly end?: 'killed' | 'closed' | 'running'
}

/** Stores items as an application does while the service is down. */
export function leave(root: string, items: readonly object[], leaving: Leaving = {}): void {
  const { url = DOWN, apiKey = KEY, service = 'checkout', end = 'killed' } = leaving
  const own = readMachine()
  const pid = end === 'running' ? process.ppid : DEAD_PID
  const start = own.findStartTime(pid, pid) ?? '1'
  const machine = {
    self: { ...own.self, pid, thread: pid, start },
    findStartTime: (asked: number, thread: number) => (asked === pid ? start : own.findStartTime(asked, thread)),
    uptimeMs: own.uptimeMs,
  }
  const run = new ProcessRun({ root, clock: systemClock, machine, spool: { url, apiKey, service } })
  for (const item of items) run.add(JSON.stringify(item))
  run.batcher.seal()
  expect([run.problems, run.drops]).toEqual([[], []])
  if (end === 'closed') run.spool.close()
  else run.abandon()
  if (end === 'killed') closeAcknowledgementLogs(root)
}

/** Writes a file of dead letters. @returns its folder */
export function leaveDead(root: string, items: readonly object[], url = DOWN, more = ''): string {
  const folder = join(root, nameDestination(url, KEY), 'dead')
  mkdirSync(folder, { recursive: true })
  const lines = items.map((item, index) =>
    toDeadLetterLine(
      { batchId: 'b', index, status: 422, code: 'X', field: 'a,"entry":', reason: 'r', entry: JSON.stringify(item) },
      '2026-01-31T08:00:00.000Z',
    ),
  )
  writeFileSync(join(folder, 'mk2x0c1p-9f3a1c000000-00000001.ndjson'), lines.join('') + more)
  return folder
}

export function instancesIn(root: string): FoundInstance[] {
  return inspectRoot(root, { machine: readMachine(), wallNowMs: Date.now() }).flatMap(({ instances }) => instances)
}

/** Runs the command, and checks that its output contains no key. */
export async function spool(
  root: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const common = { PINO_INGEST_SPOOL_DIR: root, PINO_INGEST_URL: DOWN, PINO_INGEST_API_KEY: KEY }
  const ran = await runInProcess(['spool', ...args], { ...common, PINO_INGEST_RETRY_MAX_MS: '50', ...env })
  for (const key of [KEY, OTHER_KEY]) expect(ran.out + ran.err).not.toContain(key)
  return ran
}

export interface Listed {
  readonly destinations: readonly {
    readonly name: string
    readonly kind: string
    readonly url: string | null
    readonly isPresent: boolean
    readonly instances: readonly { readonly state: string; readonly isFree: boolean; readonly entries: number }[]
    readonly deadLetters: object
  }[]
  readonly total: { readonly entries: number; readonly deadLetters: number }
}

export async function listed(root: string): Promise<Listed> {
  return JSON.parse((await spool(root, ['ls', '--json'])).out) as Listed
}

export function to(service: Pick<IngestService, 'url'>, key = KEY): Record<string, string> {
  return { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: key }
}

export function numbersAt(service: IngestService): number[] {
  const { items } = service.entries({ limit: Infinity })
  return items.map(({ entry }) => entry.metadata?.['n'] as number).toSorted((a, b) => a - b)
}
