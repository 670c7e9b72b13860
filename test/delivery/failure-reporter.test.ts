/** How failures of the service are reported. */
import { expect, test } from 'vitest'
import type { EndpointRejected, Outcome, Refused, Retryable } from '../../src/batch/outcome.js'
import type { DeliveryEvent } from '../../src/delivery/delivery-event.js'
import { createFailureReporter } from '../../src/delivery/failure-reporter.js'
import { Account } from '../../src/diagnostics/account.js'
import { Reporter } from '../../src/diagnostics/reporter.js'
import { FakeClock } from '../fake-clock.js'
import { batchOf, busyFor, DOWN, nameless, OK, RecordingReport, seeded, setup, UNAUTHORIZED } from './setup.js'
import type { Service } from './setup.js'

const URL = 'https://logs.example.com/api/v1'

/** Reports what delivery does with one batch a second. */
async function reportsOf(service: Service, seconds: number, options: { readonly meanwhile?: string } = {}) {
  const report = new RecordingReport()
  const one = setup(service, { random: seeded(1) })
  const reporter = createFailureReporter({ report, clock: one.clock, url: URL, ...options })
  let seen = 0
  const pass = (): void => {
    for (; seen < one.events.length; seen += 1) reporter.onEvent(one.events[seen] as DeliveryEvent)
  }
  for (let n = 0; n < seconds * 10; n += 1) {
    if (n % 10 === 0) one.enqueue(batchOf(`b${n}`))
    await one.clock.advance(100)
    pass()
  }
  return { report, reporter }
}

const between =
  (from: number, to: number, failure: Outcome): Service =>
  ({ at }) =>
    at >= from && at < to ? failure : OK

test('reports neither a short failure nor its end', async () => {
  const { report } = await reportsOf(between(1_000, 1_500, DOWN), 10)
  expect([report.problems, report.notes]).toEqual([[], []])
})

test('reports an outage when it lasts, and its end', async () => {
  const { report } = await reportsOf(between(1_000, 31_000, DOWN), 60, { meanwhile: 'waiting' })
  expect(report.problems[0]).toEqual({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/503 down.*waiting/),
    status: 503,
  })
  expect(report.notes).toEqual([expect.stringMatching(/\b3\d\.\d s/)])
})

test('reports a rate limit at once if the pause is long, or when short ones last', async () => {
  const limited: Outcome = { ...(busyFor(3_600) as Retryable), status: 429 }
  expect((await reportsOf(() => limited, 1)).report.problems).toMatchObject([{ code: 'RATE_LIMITED', status: 429 }])
  const short: Outcome = { ...(busyFor(1) as Retryable), status: 429 }
  expect((await reportsOf(() => short, 3)).report.problems).toEqual([])
  expect((await reportsOf(() => short, 12)).report.problems[0]).toMatchObject({ code: 'RATE_LIMITED' })
})

test.each<[number, string]>([
  [400, 'REJECTED'],
  [422, 'REJECTED'],
  [401, 'AUTH'],
  [403, 'AUTH'],
  [404, 'MISDIRECTED'],
])('status %i to everything is reported as %s at once, once an hour', async (status, code) => {
  const failure: Outcome =
    status === 400 || status === 422 ? nameless(status) : { kind: 'endpoint-rejected', status, reason: 'why' }
  expect((await reportsOf(() => failure, 1)).report.problems).toMatchObject([{ code, status }])
  expect((await reportsOf(() => failure, 600)).report.problems).toHaveLength(1)
})

test('a wrong key after acceptances is reported within seconds, and its end; one refused payload is not', async () => {
  const { report, reporter } = await reportsOf(({ at }) => (at > 5_000 ? UNAUTHORIZED : OK), 20)
  expect(report.problems).toMatchObject([{ code: 'AUTH', message: expect.stringMatching(/API_KEY.*401 invalid key/) }])
  expect(reporter.isKeyRejected).toBe(true)
  const payload = await reportsOf(({ batchId }) => (batchId === 'b100' ? UNAUTHORIZED : OK), 60)
  expect(payload.report.problems).toEqual([])
  expect(payload.reporter.isKeyRejected).toBe(false)
})

test.each(['descriptors', 'client'] as const)(
  'a failure of this process is not one of the service: %s',
  async (processFailure) => {
    const failure: Outcome = { kind: 'retryable', reason: 'the reason', processFailure }
    const { report } = await reportsOf(between(1_000, 31_000, failure), 60)
    expect(report.problems[0]).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^(?!.*service).*the reason/) as string,
    })
    expect(report.notes).toHaveLength(1)
  },
)

test('a failure of the queue says what to correct, and its end names the queue', async () => {
  const ofQueue: [Outcome, string, string][] = [
    [{ kind: 'endpoint-rejected', reason: 'why', queue: 'unauthorized' }, 'AUTH', 'nats.credentials'],
    [{ kind: 'endpoint-rejected', reason: 'why', queue: 'misconfigured' }, 'MISDIRECTED', 'pino-ingest forward init'],
    [{ kind: 'endpoint-rejected', reason: 'why', queue: 'forbidden' }, 'AUTH', 'permissions'],
    [{ kind: 'retryable', reason: 'why', queue: 'full' }, 'UNAVAILABLE', 'is full'],
  ]
  for (const [failure, code, text] of ofQueue) {
    const { report } = await reportsOf(between(0, 20_000, failure), 40)
    expect(report.problems[0]).toMatchObject({ code, message: expect.stringContaining(text) })
    expect(report.notes).toEqual([expect.stringContaining('NATS accepts')])
  }
})

/** Includes the reporter that prints and throttles the lines. */
function printing() {
  const clock = new FakeClock()
  const lines: string[] = []
  const snapshot = () => new Account().snapshot()
  const report = new Reporter({
    clock,
    logTo: 'stderr',
    snapshot,
    secrets: [],
    write: (line) => lines.push(line),
    emit: () => {},
  })
  const reporter = createFailureReporter({ report, clock, url: URL })
  const fail = (ageMs: number, failure: Outcome = DOWN): void => {
    const at = clock.now()
    const health = {
      kind: 'down',
      failures: 1,
      reason: '',
      probeAt: at + 100,
      usualPerMs: undefined,
    } as const
    const told = failure as Refused | Retryable | EndpointRejected
    reporter.onEvent({
      kind: 'failed',
      health: { ...health, since: at - ageMs },
      failure: told,
      hasAccepted: false,
      isRepeated: false,
      waitMs: 100,
      isLast: false,
    })
  }
  const recover = (): void => reporter.onEvent({ kind: 'accepted' })
  return { clock, lines, report, fail, recover }
}

test('drops a throttled failure when the service has recovered', async () => {
  const { clock, lines, fail, recover } = printing()
  fail(5_000)
  await clock.advance(500)
  fail(5_500)
  await clock.advance(100)
  recover()
  await clock.advance(60_000)
  expect(lines).toEqual([expect.stringContaining('503 down'), expect.stringContaining('5.6 s')])
})

test('drops a throttled recovery when the service fails again', async () => {
  const { clock, lines, fail, recover } = printing()
  fail(5_000)
  await clock.advance(9_000)
  recover()
  await clock.advance(1_500)
  fail(5_000)
  await clock.advance(500)
  recover()
  await clock.advance(500)
  fail(5_000)
  await clock.advance(60_000)
  expect(lines.map((line) => line.includes('503 down'))).toEqual([true, false, true, true])
})

test('reports the end of the reported outage after a short one that was not', async () => {
  const { clock, lines, fail, recover } = printing()
  fail(5_000)
  await clock.advance(2_000)
  recover()
  await clock.advance(9_000)
  fail(5_000)
  recover()
  await clock.advance(100)
  fail(0)
  await clock.advance(20_000)
  recover()
  await clock.advance(60_000)
  expect(lines.map((line) => line.includes('503 down'))).toEqual([true, false, true, false])
  expect(lines[3]).toContain('25.1 s')
})

test('reports the latest of several throttled failures', async () => {
  const { clock, lines, fail } = printing()
  fail(0, UNAUTHORIZED)
  fail(5_000)
  fail(0, { kind: 'endpoint-rejected', status: 404, reason: '404 nothing here' })
  await clock.advance(60_000)
  expect(lines).toEqual([expect.stringContaining('401 invalid key'), expect.stringContaining('404 nothing here')])
})

test('a misconfiguration is repeated every hour while it lasts', async () => {
  const { clock, lines, fail } = printing()
  const at: number[] = []
  for (let minute = 0; minute <= 180; minute += 1) {
    const before = lines.length
    fail(0, UNAUTHORIZED)
    if (lines.length > before) at.push(minute)
    await clock.advance(60_000)
  }
  expect(at).toEqual([0, 60, 120, 180])
})
