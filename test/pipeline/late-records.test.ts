/** Records are on disk when they were read, also those logged after the pipeline was closed, as by a listener for the process's `exit`. */
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import type { IngestOptions } from '../../src/options/resolve-options.js'
import { inspectRoot, summarizeUnsettled } from '../../src/spool/inspect.js'
import { readMachine } from '../../src/spool/instance/ownership.js'
import { filesBelow } from '../spool/disk-image.js'
import { removeScratch, scratchFolder } from '../spool/scratch.js'
import { piped } from './create-pipeline.js'

const REQUEST = { msg: 'late', req: { method: 'GET', url: '/' }, res: { statusCode: 200 }, responseTime: 1 }
const REPEAT = {
  level: 50,
  msg: 'late',
  err: { type: 'Error', message: 'late', stack: 'Error: late\n    at a.js:1:1' },
}

/** With the options, the records `before` the exit and `late` ones: the account after it. */
const KINDS: readonly {
  readonly name: string
  readonly options: Partial<IngestOptions>
  readonly before: readonly object[]
  readonly late: readonly object[]
  /** Entries and request logs that remain. */
  readonly left: readonly [entries: number, requestLogs?: number]
}[] = [
  { name: 'entries', options: {}, before: [{ msg: 'a' }], late: [{ msg: 'b' }, { msg: 'c' }], left: [3] },
  { name: 'the first records', options: {}, before: [], late: [{ msg: 'b' }], left: [1] },
  { name: 'request logs', options: { requestLogs: true }, before: [REQUEST], late: [REQUEST, REQUEST], left: [3, 3] },
  {
    name: 'repeats and their summary',
    options: { dedupeWindowMs: 60_000 },
    before: [REPEAT, REPEAT, REPEAT],
    late: [REPEAT, REPEAT],
    left: [4],
  },
]

async function entriesIn(dir: string): Promise<number> {
  const found = inspectRoot(dir, { machine: readMachine(), wallNowMs: Date.now() }).flatMap(
    ({ instances }) => instances,
  )
  const summaries = await Promise.all(found.map((instance) => summarizeUnsettled(instance)))
  return summaries.reduce((sum, { entries }) => sum + entries, 0)
}

/** As in listeners for `exit`. Only for this call, because Node runs nothing later in this state. */
function whileExiting(act: () => void): void {
  Object.assign(process, { _exiting: true })
  try {
    act()
  } finally {
    Object.assign(process, { _exiting: false })
  }
}

test('an entry and its request log are on disk before their batches are complete', async () => {
  const dir = scratchFolder()
  onTestFinished(() => removeScratch(dir))
  const { write } = await piped({ requestLogs: true, spool: { dir } })
  write(REQUEST)
  const text = filesBelow(dir)
    .filter((path) => path.endsWith('.seg'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('')
  for (const part of ['"message":"late"', '"request_id":']) expect(text).toContain(part)
})

test.each(KINDS)('$name are on disk when they were logged', async ({ options, before, late, left }) => {
  const dir = scratchFolder()
  onTestFinished(() => removeScratch(dir))
  const { pipeline, write } = await piped({ ...options, spool: { dir } })
  write(...before)
  pipeline.abandon()
  whileExiting(() => late.forEach((record) => write(record)))
  const { dropped, balances } = pipeline.snapshot
  expect({ dropped: dropped.shutdown, balances }).toEqual({ dropped: 0, balances: true })
  expect(await entriesIn(dir)).toBe(left[0] + (left[1] ?? 0))
})

test.each(KINDS)('without a spool, $name are counted as dropped', async ({ options, before, late, left }) => {
  const { pipeline, write } = await piped(options)
  write(...before)
  pipeline.abandon()
  whileExiting(() => late.forEach((record) => write(record)))
  const { pending, dropped, balances, requestLogs } = pipeline.snapshot
  expect({ pending, balances, requests: requestLogs?.pending ?? 0 }).toEqual({
    pending: 0,
    balances: true,
    requests: 0,
  })
  expect([dropped.shutdown, requestLogs?.dropped.shutdown]).toEqual([left[0], left[1]])
})
