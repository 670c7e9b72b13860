/** What the gate makes of refusals, and what it tells the quarantine. */
import { expect, test, vi } from 'vitest'
import { RejectionTracker } from '../../../src/delivery/isolation/rejection-tracker.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { createFailureReporter } from '../../../src/delivery/retry/failure-reporter.js'
import type { Outcome, Refused } from '../../../src/batch/sender.js'
import { FakeClock, settled } from '../../fake-clock.js'
import { OK, RecordingReport } from '../scripted-sender.js'

const NAMELESS: Refused = { kind: 'refused', status: 400, reason: 'status 400', rejected: [] }
const NAMED: Refused = { ...NAMELESS, status: 422, rejected: [{ index: 0, code: '', field: '', message: '' }] }
const never = new AbortController().signal

function setup(onTrouble = vi.fn()) {
  const clock = new FakeClock()
  const gate = new CircuitBreaker({
    clock,
    maxConcurrency: 8,
    retryMinMs: 250,
    retryMaxMs: 30_000,
    onFailure: onTrouble,
  })
  const run = (outcome: Outcome) => gate.run(gate.createRetryState(), never, () => Promise.resolve(outcome))
  return { clock, gate, run, onTrouble }
}

test('the limit grows by what is accepted or refused by name, not by what is refused without', async () => {
  const { gate, run } = setup()
  await run(NAMELESS)
  await run({ ...NAMED, status: 413 })
  expect(gate.limit).toBe(1)
  await run(OK)
  await run(NAMED)
  expect(gate.limit).toBe(3)
  gate.limitToOne()
  expect(gate.limit).toBe(1)
})

test('a refusal says what had begun before it', async () => {
  const { gate, run } = setup()
  expect(await run(NAMELESS)).toMatchObject({ begunBefore: 1 })
  const refused = (await run(NAMED)) as Refused
  expect(refused.begunBefore).toBe(2)
  expect(gate.rejections.hasAcceptedSince(2)).toBe(false)
  await run({ ...OK, accepted: 0 } as Outcome)
  expect(gate.rejections.hasAcceptedSince(2)).toBe(false)
  await run(OK)
  expect([gate.rejections.hasAcceptedSince(2), gate.rejections.hasAcceptedSince(4)]).toEqual([true, false])
})

test('what was begun before the refusal is no evidence, however late it is accepted', async () => {
  const { gate, run } = setup()
  await run(OK)
  let accept: (outcome: Outcome) => void = () => {}
  const slow = gate.run(gate.createRetryState(), never, () => new Promise((resolve) => (accept = resolve)))
  const refused = (await run(NAMELESS)) as Refused
  accept(OK)
  await slow
  expect(gate.rejections.hasAcceptedSince(refused.begunBefore ?? 0)).toBe(false)
})

test('after a verdict one attempt a minute passes, also when its refusal names nothing; an acceptance ends it', async () => {
  const { clock, gate, run, onTrouble } = setup()
  gate.rejectsEverything(NAMELESS)
  expect(onTrouble).toHaveBeenCalledWith(
    expect.objectContaining({ kind: 'misconfigured', status: 400 }),
    0,
    60_000,
    false,
  )
  const replies: number[] = []
  for (let n = 0; n < 5; n += 1) void run(n < 2 ? NAMELESS : OK).then(() => replies.push(clock.now()))
  await clock.advance(200_000)
  expect(replies).toEqual([60_000, 120_000, 180_000, 180_000, 180_000])
  expect([gate.rejections.isRejectingAll, gate.lastFailure]).toEqual([false, undefined])
})

test('what waits for news makes room for others, and tells of it', () => {
  const { gate } = setup()
  const listener = vi.fn()
  gate.onCapacity(listener)
  const ends = Array.from({ length: 40 }, () => gate.suspend())
  expect([gate.limit, listener.mock.calls.length]).toEqual([33, 40])
  for (const end of ends) end()
  expect(gate.limit).toBe(1)
})

test('a verdict, and many refusals in a row, void what was accepted before', () => {
  const evidence = new RejectionTracker(new FakeClock())
  evidence.accepted(evidence.begin())
  expect(evidence.hasAcceptedSince(0)).toBe(true)
  evidence.markRejectingAll()
  expect(evidence.hasAcceptedSince(0)).toBe(false)
  evidence.accepted(evidence.begin())
  for (let n = 0; n < 249; n += 1) evidence.refused()
  expect(evidence.hasAcceptedSince(0)).toBe(true)
  evidence.refused()
  expect(evidence.hasAcceptedSince(0)).toBe(false)
})

test('waiting ends by news, time, or abort, and leaves nothing behind', async () => {
  const clock = new FakeClock()
  const evidence = new RejectionTracker(clock)
  const abort = new AbortController()
  const done: string[] = []
  void evidence.until(() => evidence.hasAcceptedSince(0), never, 60_000).then(() => done.push('news'))
  void evidence.until(() => false, never, 60_000).then(() => done.push('time'))
  void evidence.until(() => false, abort.signal).then(() => done.push('abort'))
  void evidence.until(() => true, never).then(() => done.push('over'))
  await settled()
  evidence.accepted(evidence.begin())
  await settled()
  await clock.advance(60_000)
  abort.abort()
  await settled()
  expect(done).toEqual(['over', 'news', 'time', 'abort'])
  expect(clock.timers).toBe(0)
})

test('the user is told what refuses everything, once', () => {
  const told = new RecordingReport()
  const { onFailure: onTrouble } = createFailureReporter(told, new FakeClock())
  for (let n = 0; n < 3; n += 1) onTrouble({ ...NAMELESS, kind: 'misconfigured' }, 0, 60_000, false)
  expect(told.problems).toEqual([
    {
      code: 'REJECTED',
      status: 400,
      message: expect.stringMatching(/rejects every batch.*60\.0 s/),
    },
  ])
})
