import { expect, test } from 'vitest'
import { createFailureReporter } from '../../../src/delivery/retry/failure-reporter.js'
import { Account } from '../../../src/diagnostics/account.js'
import { Reporter } from '../../../src/diagnostics/reporter.js'
import { FakeClock } from '../../fake-clock.js'
import { DOWN, RecordingReport, UNAUTHORIZED, busyFor } from '../scripted-sender.js'
import type { Retryable, EndpointRejected } from '../../../src/batch/sender.js'

const down = DOWN as Retryable
const busy = busyFor(3600) as Retryable
const unauthorized = UNAUTHORIZED as EndpointRejected

test('a hiccup is not told, nor its end', () => {
  const told = new RecordingReport()
  const { onFailure: onTrouble, onRecovery } = createFailureReporter(told, new FakeClock())
  onTrouble(down, 0, 200, false)
  onTrouble(down, 200, 400, false)
  onRecovery(600)
  expect([told.problems, told.notes]).toEqual([[], []])
})

test('an outage is told once it lasts, or is known to last, and its end too', () => {
  const told = new RecordingReport()
  const { onFailure: onTrouble, onRecovery } = createFailureReporter(told, new FakeClock())
  onTrouble(down, 4000, 1500, false)
  expect(told.problems).toEqual([{ code: 'UNAVAILABLE', message: expect.stringContaining('503 down'), status: 503 }])
  onRecovery(6000)
  expect(told.notes).toEqual([expect.stringContaining('6.0 s')])
  onTrouble({ ...busy, status: 429 }, 0, 3_600_000, false)
  expect(told.problems[1]).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
})

test("a local service that is not this user's is reported at once, and once", () => {
  const told = new RecordingReport()
  const { onFailure: onTrouble } = createFailureReporter(told, new FakeClock())
  for (let times = 0; times < 3; times += 1) onTrouble({ kind: 'misconfigured', reason: 'not yours' }, 0, 300, false)
  expect(told.problems).toEqual([
    { code: 'MISDIRECTED', message: expect.stringMatching(/local service.*not yours/) as string },
  ])
})

test('what the user can do follows the cause', () => {
  const told = new RecordingReport()
  createFailureReporter(told, new FakeClock()).onFailure(
    { kind: 'misconfigured', reason: 'not yours', remedy: 'Stop it' },
    0,
    300,
    false,
  )
  expect(told.problems).toMatchObject([{ message: expect.stringMatching(/: not yours\. Stop it; /) as string }])
})

test('with a time between repeats: when it begins, then at most once in that time, and when it begins again', async () => {
  const told = new RecordingReport()
  const clock = new FakeClock()
  const { onFailure: onTrouble, onRecovery } = createFailureReporter(told, clock, {
    meanwhile: 'waiting',
    repeatMs: 60_000,
  })
  for (let second = 0; second < 150; second += 5) {
    onTrouble(down, 5_000 + second * 1_000, 5_000, false)
    await clock.advance(5_000)
  }
  expect(told.problems).toHaveLength(3)
  expect(told.problems[0]?.message).toContain('waiting')
  onRecovery(150_000)
  onTrouble(down, 5_000, 5_000, false)
  expect(told.problems).toHaveLength(4)
})

test('a misconfiguration is told at once, once of a kind, and again after it was mended', () => {
  const told = new RecordingReport()
  const { onFailure: onTrouble, onRecovery } = createFailureReporter(told, new FakeClock())
  const elsewhere: EndpointRejected = { kind: 'misconfigured', status: 301, reason: '301 moved' }
  for (const trouble of [unauthorized, unauthorized, elsewhere, unauthorized, elsewhere])
    onTrouble(trouble, 0, 60_000, false)
  expect(told.problems.map(({ code }) => code)).toEqual(['AUTH', 'MISDIRECTED'])
  expect(told.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/apiKey.*401 invalid key/),
    expect.stringMatching(/url.*301 moved/),
  ])
  onRecovery(1000)
  onTrouble(unauthorized, 0, 60_000, false)
  expect(told.problems).toHaveLength(3)
})

test('a misconfiguration is reported again every hour while it lasts', async () => {
  const told = new RecordingReport()
  const clock = new FakeClock()
  const { onFailure: onTrouble } = createFailureReporter(told, clock)
  const at: number[] = []
  for (let minute = 0; minute <= 180; minute += 1) {
    const before = told.problems.length
    onTrouble(unauthorized, minute * 60_000, 60_000, false)
    if (told.problems.length > before) at.push(minute)
    await clock.advance(60_000)
  }
  expect(at).toEqual([0, 60, 120, 180])
})

/** With the lines that a user sees, and what holds them back. */
function printing() {
  const clock = new FakeClock()
  const lines: string[] = []
  const problems: number[] = []
  const report = new Reporter({
    clock,
    onProblem: 'stderr',
    snapshot: () => new Account().snapshot(),
    secrets: [],
    write: (line) => lines.push(line),
    emit: (name) => {
      if (name === 'ingest:problem') problems.push(clock.now())
    },
  })
  return { clock, lines, problems, report, ...createFailureReporter(report, clock) }
}

test('a failure that is held back is not told after the service has recovered', async () => {
  const { clock, lines, problems, onFailure: onTrouble, onRecovery } = printing()
  onTrouble(down, 5_000, 100, false)
  await clock.advance(500)
  onTrouble(down, 5_500, 100, false)
  await clock.advance(100)
  onRecovery(5_600)
  await clock.advance(60_000)
  expect(lines).toEqual([expect.stringContaining('503 down'), expect.stringContaining('5.6 s')])
  expect(problems).toEqual([0])
})

test('a recovery that is held back is not told after the service fails again', async () => {
  const { clock, lines, onFailure: onTrouble, onRecovery } = printing()
  onTrouble(down, 5_000, 100, false)
  await clock.advance(9_000)
  onRecovery(14_000)
  await clock.advance(1_500)
  onTrouble(down, 5_000, 100, false)
  await clock.advance(500)
  onRecovery(5_500)
  await clock.advance(500)
  onTrouble(down, 5_000, 100, false)
  await clock.advance(60_000)
  expect(lines.map((line) => line.includes('503 down'))).toEqual([true, false, true, true])
})

test('of several throttled failures the latest is reported', async () => {
  const { clock, lines, onFailure: onTrouble } = printing()
  onTrouble(unauthorized, 0, 60_000, false)
  onTrouble(down, 5_000, 100, false)
  onTrouble(down, 6_000, 100, false)
  onTrouble({ ...unauthorized, status: 404, reason: '404 nothing here' }, 7_000, 60_000, false)
  await clock.advance(60_000)
  expect(lines.map((line) => /503|401|404/.exec(line)?.[0])).toEqual(['401', '503', '404'])
})

test("request logs and entries do not take back each other's lines", async () => {
  const { clock, lines, report, onFailure: onTrouble, onRecovery } = printing()
  const other = createFailureReporter(report.forRequestLogs(), clock)
  for (let n = 0; n < 2; n += 1) {
    onTrouble(down, 5_000, 100, false)
    other.onFailure(down, 5_000, 100, false)
  }
  onRecovery(6_000)
  await clock.advance(60_000)
  expect(lines.filter((line) => line.includes('503'))).toEqual([
    expect.not.stringContaining('request logs'),
    expect.stringContaining('request logs'),
    expect.stringContaining('request logs'),
  ])
})

test('at an exit no line names a next attempt, not even a throttled one', () => {
  const { lines, report, onFailure: onTrouble, end } = printing()
  onTrouble(unauthorized, 0, 60_000, false)
  onTrouble(busy, 0, 3_600_000, true)
  onTrouble(busy, 0, 3_600_000, false)
  end()
  report.flushNow()
  expect(lines.map((line) => line.includes('next attempt'))).toEqual([true, false])
})
