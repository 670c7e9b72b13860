/** What the gate makes of refusals, and what it tells the quarantine. */
import { expect, test, vi } from 'vitest'
import { Evidence } from '../../src/delivery/evidence.js'
import { Gate } from '../../src/delivery/gate.js'
import { troubleTeller } from '../../src/delivery/trouble.js'
import type { Outcome, Refused } from '../../src/batch/sender.js'
import { FakeClock, settled } from '../fake-clock.js'
import { OK, Told } from './scripted.js'

const NAMELESS: Refused = { kind: 'refused', status: 400, reason: 'status 400', rejected: [] }
const NAMED: Refused = { ...NAMELESS, status: 422, rejected: [{ index: 0, code: '', field: '', message: '' }] }
const never = new AbortController().signal

function setup(onTrouble = vi.fn()) {
  const clock = new FakeClock()
  const gate = new Gate({ clock, maxConcurrency: 8, retryMinMs: 250, retryMaxMs: 30_000, onTrouble })
  const run = (outcome: Outcome) => gate.run(gate.turn(), never, () => Promise.resolve(outcome))
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
  gate.doubt()
  expect(gate.limit).toBe(1)
})

test('a refusal says what had begun before it', async () => {
  const { gate, run } = setup()
  expect(await run(NAMELESS)).toMatchObject({ begunBefore: 1 })
  const refused = await run(NAMED) as Refused
  expect(refused.begunBefore).toBe(2)
  expect(gate.evidence.since(2)).toBe(false)
  await run({ ...OK, accepted: 0 } as Outcome)
  expect(gate.evidence.since(2)).toBe(false)
  await run(OK)
  expect([gate.evidence.since(2), gate.evidence.since(4)]).toEqual([true, false])
})

test('what was begun before the refusal is no evidence, however late it is accepted', async () => {
  const { gate, run } = setup()
  await run(OK)
  let accept: (outcome: Outcome) => void = () => {}
  const slow = gate.run(gate.turn(), never, () => new Promise((resolve) => (accept = resolve)))
  const refused = await run(NAMELESS) as Refused
  accept(OK)
  await slow
  expect(gate.evidence.since(refused.begunBefore ?? 0)).toBe(false)
})

test('after a verdict one attempt a minute passes, also when its refusal names nothing; an acceptance ends it', async () => {
  const { clock, gate, run, onTrouble } = setup()
  gate.misconfigured(NAMELESS)
  expect(onTrouble).toHaveBeenCalledWith(expect.objectContaining({ kind: 'misconfigured', status: 400 }), 0, 60_000, false)
  const replies: number[] = []
  for (let n = 0; n < 5; n += 1) void run(n < 2 ? NAMELESS : OK).then(() => replies.push(clock.now()))
  await clock.advance(200_000)
  expect(replies).toEqual([60_000, 120_000, 180_000, 180_000, 180_000])
  expect([gate.evidence.isConvicted, gate.trouble]).toEqual([false, undefined])
})

test('what waits for news makes room for others, and tells of it', () => {
  const { gate } = setup()
  const listener = vi.fn()
  gate.onRoom(listener)
  const ends = Array.from({ length: 40 }, () => gate.park())
  expect([gate.limit, listener.mock.calls.length]).toEqual([33, 40])
  for (const end of ends) end()
  expect(gate.limit).toBe(1)
})

test('a verdict, and many refusals in a row, void what was accepted before', () => {
  const evidence = new Evidence(new FakeClock())
  evidence.accepted(evidence.begin())
  expect(evidence.since(0)).toBe(true)
  evidence.convict()
  expect(evidence.since(0)).toBe(false)
  evidence.accepted(evidence.begin())
  for (let n = 0; n < 249; n += 1) evidence.refused()
  expect(evidence.since(0)).toBe(true)
  evidence.refused()
  expect(evidence.since(0)).toBe(false)
})

test('waiting ends by news, time, or abort, and leaves nothing behind', async () => {
  const clock = new FakeClock()
  const evidence = new Evidence(clock)
  const abort = new AbortController()
  const done: string[] = []
  void evidence.until(() => evidence.since(0), never, 60_000).then(() => done.push('news'))
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
  const told = new Told()
  const { onTrouble } = troubleTeller(told, new FakeClock())
  for (let n = 0; n < 3; n += 1) onTrouble({ ...NAMELESS, kind: 'misconfigured' }, 0, 60_000, false)
  expect(told.problems).toEqual([{ code: 'REJECTED', status: 400, message: expect.stringMatching(/refuses whatever it is sent, check url.*60\.0 s/) }])
})
