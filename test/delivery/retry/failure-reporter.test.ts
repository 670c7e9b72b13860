import { expect, test } from 'vitest'
import { createFailureReporter } from '../../../src/delivery/retry/failure-reporter.js'
import { Account } from '../../../src/diagnostics/account.js'
import { Reporter } from '../../../src/diagnostics/reporter.js'
import { FakeClock } from '../../fake-clock.js'
import { DOWN, RecordingReport, UNAUTHORIZED, busyFor } from '../scripted-sender.js'
import type { Retryable, EndpointRejected } from '../../../src/batch/outcome.js'

const URL = 'https://logs.example.com/api/v1'
const down = DOWN as Retryable
const busy = busyFor(3600) as Retryable
const unauthorized = UNAUTHORIZED as EndpointRejected

test('reports neither a short failure nor its end', () => {
  const report = new RecordingReport()
  const { onFailure, onRecovery } = createFailureReporter(report, new FakeClock(), { url: URL })
  onFailure(down, 0, 200, false)
  onFailure(down, 200, 400, false)
  onRecovery()
  expect([report.problems, report.notes]).toEqual([[], []])
})

test('reports an outage when it lasts or will last, and its end', async () => {
  const report = new RecordingReport()
  const clock = new FakeClock()
  const { onFailure, onRecovery } = createFailureReporter(report, clock, { url: URL })
  onFailure(down, 4000, 1500, false)
  expect(report.problems).toEqual([{ code: 'UNAVAILABLE', message: expect.stringContaining('503 down'), status: 503 }])
  await clock.advance(2000)
  onRecovery()
  expect(report.notes).toEqual([expect.stringContaining('6.0 s')])
  onFailure({ ...busy, status: 429 }, 0, 3_600_000, false)
  expect(report.problems[1]).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
})

test('reports a local service of another user at once, and only once', () => {
  const report = new RecordingReport()
  const { onFailure } = createFailureReporter(report, new FakeClock(), { url: URL })
  for (let times = 0; times < 3; times += 1)
    onFailure({ kind: 'endpoint-rejected', reason: 'not yours' }, 0, 300, false)
  expect(report.problems).toEqual([
    { code: 'MISDIRECTED', message: expect.stringMatching(/local service.*not yours/) as string },
  ])
})

test('a failure of the queue says what to correct, and its end names the queue', async () => {
  const report = new RecordingReport()
  const clock = new FakeClock()
  const { onFailure, onRecovery } = createFailureReporter(report, clock, { url: URL })
  onFailure({ kind: 'endpoint-rejected', reason: 'why', queue: 'unauthorized' }, 0, 300, false)
  onFailure({ kind: 'endpoint-rejected', reason: 'why', queue: 'misconfigured' }, 0, 300, false)
  onFailure({ kind: 'retryable', reason: 'why', queue: 'full' }, 6_000, 300, false)
  expect(report.problems).toEqual([
    { code: 'AUTH', message: expect.stringContaining('nats.credentials') },
    { code: 'MISDIRECTED', message: expect.stringContaining('pino-ingest forward init') },
    { code: 'UNAVAILABLE', message: expect.stringContaining('is full') },
  ])
  onRecovery()
  expect(report.notes).toEqual([expect.stringContaining('NATS accepts')])
  onFailure({ kind: 'endpoint-rejected', reason: 'why', queue: 'forbidden' }, 0, 300, false)
  expect(report.problems[3]).toEqual({ code: 'AUTH', message: expect.stringMatching(/permissions/) })
})

test.each([
  [400, 'REJECTED'],
  [413, 'REJECTED'],
  [422, 'REJECTED'],
  [401, 'AUTH'],
  [403, 'AUTH'],
  [404, 'MISDIRECTED'],
])('status %i to everything is reported as %s, with the cause', (status, code) => {
  const report = new RecordingReport()
  const { onFailure } = createFailureReporter(report, new FakeClock(), { url: URL })
  onFailure({ kind: 'endpoint-rejected', status, reason: 'why' }, 0, 300, false)
  expect(report.problems).toEqual([{ code, status, message: expect.stringMatching(/\bwhy;/) as string }])
})

test('the message has the cause, then the remedy', () => {
  const report = new RecordingReport()
  createFailureReporter(report, new FakeClock(), { url: URL }).onFailure(
    { kind: 'endpoint-rejected', reason: 'not yours', remedy: 'Stop it' },
    0,
    300,
    false,
  )
  expect(report.problems).toMatchObject([{ message: expect.stringMatching(/: not yours\. Stop it; /) as string }])
})

test('with repeatMs: reports the start, then at most once per repeatMs, and each new start', async () => {
  const report = new RecordingReport()
  const clock = new FakeClock()
  const { onFailure, onRecovery } = createFailureReporter(report, clock, {
    url: URL,
    meanwhile: 'waiting',
    repeatMs: 60_000,
  })
  for (let second = 0; second < 150; second += 5) {
    onFailure(down, 5_000 + second * 1_000, 5_000, false)
    await clock.advance(5_000)
  }
  expect(report.problems).toHaveLength(3)
  expect(report.problems[0]?.message).toContain('waiting')
  onRecovery()
  onFailure(down, 5_000, 5_000, false)
  expect(report.problems).toHaveLength(4)
})

test('reports a misconfiguration at once, once per kind, and again after it was corrected', () => {
  const report = new RecordingReport()
  const { onFailure, onRecovery } = createFailureReporter(report, new FakeClock(), { url: URL })
  const elsewhere: EndpointRejected = { kind: 'endpoint-rejected', status: 301, reason: '301 moved' }
  for (const failure of [unauthorized, unauthorized, elsewhere, unauthorized, elsewhere])
    onFailure(failure, 0, 60_000, false)
  expect(report.problems.map(({ code }) => code)).toEqual(['AUTH', 'MISDIRECTED'])
  expect(report.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/401 invalid key.*apiKey/),
    expect.stringMatching(/url.*301 moved/),
  ])
  onRecovery()
  onFailure(unauthorized, 0, 60_000, false)
  expect(report.problems).toHaveLength(3)
})

test('repeats a misconfiguration every hour while it lasts', async () => {
  const report = new RecordingReport()
  const clock = new FakeClock()
  const { onFailure } = createFailureReporter(report, clock, { url: URL })
  const at: number[] = []
  for (let minute = 0; minute <= 180; minute += 1) {
    const before = report.problems.length
    onFailure(unauthorized, minute * 60_000, 60_000, false)
    if (report.problems.length > before) at.push(minute)
    await clock.advance(60_000)
  }
  expect(at).toEqual([0, 60, 120, 180])
})

/** Includes the reporter that prints and throttles the lines. */
function printing() {
  const clock = new FakeClock()
  const lines: string[] = []
  const problems: number[] = []
  const report = new Reporter({
    clock,
    logTo: 'stderr',
    snapshot: () => new Account().snapshot(),
    secrets: [],
    write: (line) => lines.push(line),
    emit: (name) => {
      if (name === 'ingest:problem') problems.push(clock.now())
    },
  })
  return { clock, lines, problems, report, ...createFailureReporter(report, clock, { url: URL }) }
}

test('drops a throttled failure when the service has recovered', async () => {
  const { clock, lines, problems, onFailure, onRecovery } = printing()
  onFailure(down, 5_000, 100, false)
  await clock.advance(500)
  onFailure(down, 5_500, 100, false)
  await clock.advance(100)
  onRecovery()
  await clock.advance(60_000)
  expect(lines).toEqual([expect.stringContaining('503 down'), expect.stringContaining('5.6 s')])
  expect(problems).toEqual([0])
})

test('drops a throttled recovery when the service fails again', async () => {
  const { clock, lines, onFailure, onRecovery } = printing()
  onFailure(down, 5_000, 100, false)
  await clock.advance(9_000)
  onRecovery()
  await clock.advance(1_500)
  onFailure(down, 5_000, 100, false)
  await clock.advance(500)
  onRecovery()
  await clock.advance(500)
  onFailure(down, 5_000, 100, false)
  await clock.advance(60_000)
  expect(lines.map((line) => line.includes('503 down'))).toEqual([true, false, true, true])
})

test('reports a throttled recovery after the next failure, even a short one, not during it', async () => {
  const { clock, lines, onFailure, onRecovery } = printing()
  onFailure(down, 5_000, 100, false)
  await clock.advance(2_000)
  onRecovery()
  await clock.advance(9_000)
  onFailure(down, 5_000, 100, false)
  onRecovery()
  await clock.advance(100)
  onFailure(down, 0, 100, false)
  await clock.advance(20_000)
  expect(lines.map((line) => line.includes('503 down'))).toEqual([true, false, true])
  onRecovery()
  await clock.advance(60_000)
  // The duration of the reported outage, not of the short one.
  expect(lines.slice(3)).toEqual([expect.stringContaining('25.1 s')])
})

test('reports neither a throttled outage that has ended nor its end', async () => {
  const { clock, lines, onFailure, onRecovery } = printing()
  for (let time = 0; time < 2; time += 1) {
    onFailure(down, 5_000, 100, false)
    await clock.advance(1_000)
    onRecovery()
    await clock.advance(1_000)
  }
  await clock.advance(60_000)
  expect(lines.map((line) => line.includes('503 down'))).toEqual([true, false])
})

test('reports the latest of several throttled failures', async () => {
  const { clock, lines, onFailure } = printing()
  onFailure(unauthorized, 0, 60_000, false)
  onFailure(down, 5_000, 100, false)
  onFailure(down, 6_000, 100, false)
  onFailure({ ...unauthorized, status: 404, reason: '404 nothing here' }, 7_000, 60_000, false)
  await clock.advance(60_000)
  expect(lines.map((line) => /503|401|404/.exec(line)?.[0])).toEqual(['401', '503', '404'])
})

test("request logs and entries do not cancel each other's lines", async () => {
  const { clock, lines, report, onFailure, onRecovery } = printing()
  const other = createFailureReporter(report.forRequestLogs(), clock, { url: URL })
  for (let n = 0; n < 2; n += 1) {
    onFailure(down, 5_000, 100, false)
    other.onFailure(down, 5_000, 100, false)
  }
  onRecovery()
  await clock.advance(60_000)
  expect(lines.filter((line) => line.includes('503'))).toEqual([
    expect.not.stringContaining('request logs'),
    expect.stringContaining('request logs'),
    expect.stringContaining('request logs'),
  ])
})

test('at exit no line, throttled or not, mentions a next attempt', () => {
  const { lines, report, onFailure, end } = printing()
  onFailure(unauthorized, 0, 60_000, false)
  onFailure(busy, 0, 3_600_000, true)
  onFailure(busy, 0, 3_600_000, false)
  end()
  report.flushNow()
  expect(lines.map((line) => line.includes('next attempt'))).toEqual([true, false])
})
