/** Which new entries are reported, with a store whose `seq` and time the test controls. */
import { beforeEach, expect, test } from 'vitest'
import { MatchNotifier, QUIET_MS } from '../../../../src/service/viewer/entries/match-notifier.js'
import type { SavedQuery } from '../../../../src/service/viewer/entries/saved-query.js'
import { NO_FILTER } from '../../../../src/service/viewer/view.js'

const queryOf = (q: string, name = q): SavedQuery => ({ name, ...NO_FILTER, q, notify: true })
const ERRORS = queryOf('error')

let stored: { readonly seq: number; readonly message: string }[]
let lastSeq: number
let nowMs: number
let run: string
let isDown: boolean
let reports: string[]
let asked: Readonly<Record<string, string | number>>[]

function arrive(...messages: string[]): void {
  for (const message of messages) stored.push({ seq: ++lastSeq, message })
}

/** As `GET /local/arrivals`. */
async function readArrivals(parameters: Readonly<Record<string, string | number>>) {
  asked.push(parameters)
  if (isDown || parameters['q'] === 'refused') throw new Error('down')
  const after = Number(parameters['after'] ?? lastSeq)
  const isSameRun = parameters['run'] === undefined || parameters['run'] === run
  const found = stored.filter(
    ({ seq, message }) => seq > (isSameRun ? after : 0) && message.includes(String(parameters['q'] ?? '')),
  )
  const items = found
    .slice(-1)
    .map((one) => ({ ...one, id: '', received_at: '', timestamp: '', level: 'info' as const }))
  return { items, skipped: Math.max(0, found.length - 1), last_seq: lastSeq, run }
}

function createNotifier(): MatchNotifier {
  return new MatchNotifier({
    readArrivals,
    report: ({ query, count, newest }) => reports.push(`${query.name} ${count} ${newest.message}`),
    now: () => nowMs,
  })
}

beforeEach(() => {
  stored = []
  lastSeq = 0
  run = 'a'
  nowMs = 1_000_000
  isDown = false
  reports = []
  asked = []
})

test('entries that arrive after the first check are reported once, with their number and the newest', async () => {
  const notifier = createNotifier()
  arrive('error old')
  await notifier.check([ERRORS])
  await notifier.check([ERRORS])
  expect(reports).toEqual([])
  arrive('error 1', 'other', 'error 2', 'other')
  await notifier.check([ERRORS])
  nowMs += QUIET_MS
  await notifier.check([ERRORS])
  expect(reports).toEqual(['error 2 error 2'])
})

test('entries within 10 s of a report are summed', async () => {
  const notifier = createNotifier()
  await notifier.check([ERRORS])
  arrive('error 1')
  await notifier.check([ERRORS])
  for (const n of [2, 3, 4]) {
    arrive(`error ${n}`)
    nowMs += (QUIET_MS - 1) / 3
    await notifier.check([ERRORS])
  }
  expect(reports).toEqual(['error 1 error 1'])
  nowMs += 1
  await notifier.check([ERRORS])
  expect(reports).toEqual(['error 1 error 1', 'error 3 error 4'])
})

test('each query has its own state; one that is switched on again begins anew', async () => {
  const notifier = createNotifier()
  const late = queryOf('late')
  await notifier.check([ERRORS, late])
  arrive('error late')
  await notifier.check([late])
  await notifier.check([ERRORS, late])
  expect(reports).toEqual(['late 1 error late'])
  arrive('error 2')
  // Another filter under the same name is another query.
  await notifier.check([{ ...ERRORS, q: '' }])
  await notifier.check([ERRORS])
  expect(reports).toHaveLength(1)
})

test('the time range of a query counts from the check', async () => {
  const notifier = createNotifier()
  const recent = { ...ERRORS, last: '5m' }
  await notifier.check([recent])
  await notifier.check([recent])
  expect(asked.slice(1)).toMatchObject([{ q: 'error', since: new Date(nowMs - 300_000).toISOString() }])
})

test('after a failure, what has arrived meanwhile is reported, and other queries at once', async () => {
  const notifier = createNotifier()
  const refused = queryOf('refused')
  await notifier.check([refused, ERRORS])
  isDown = true
  arrive('error 1')
  await notifier.check([refused, ERRORS])
  isDown = false
  arrive('error 2')
  await notifier.check([refused, ERRORS])
  expect(reports).toEqual(['error 2 error 2'])
})

test('after a failure of the first check, old entries are not reported', async () => {
  const notifier = createNotifier()
  arrive('error old')
  isDown = true
  await notifier.check([ERRORS])
  isDown = false
  await notifier.check([ERRORS])
  await notifier.check([ERRORS])
  expect(reports).toEqual([])
})

test('a reset and a restart report nothing old', async () => {
  const notifier = createNotifier()
  arrive('error 1', 'error 2')
  await notifier.check([ERRORS])
  stored = []
  await notifier.check([ERRORS])
  expect(reports).toEqual([])
  // Without a journal, a restarted service begins with the first `seq`.
  lastSeq = 0
  run = 'b'
  arrive('error 1', 'error 2', 'error 3')
  await notifier.check([ERRORS])
  expect(reports).toEqual(['error 3 error 3'])
})

test('checks do not overlap', async () => {
  const notifier = createNotifier()
  await notifier.check([ERRORS])
  arrive('error')
  await Promise.all([notifier.check([ERRORS]), notifier.check([ERRORS])])
  expect([asked.length, reports.length]).toEqual([2, 1])
})
