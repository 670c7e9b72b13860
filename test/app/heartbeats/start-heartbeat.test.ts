/** `startHeartbeat()` sends a ping immediately and then at an interval, one at a time, until it is stopped. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startHeartbeat, startHeartbeatWithClock } from '../../../src/app/heartbeats/start-heartbeat.js'
import type { StartHeartbeatOptions } from '../../../src/app/heartbeats/start-heartbeat.js'
import { backgroundClock } from '../../../src/shared/clock.js'
import { FakeClock } from '../../fake-clock.js'
import { httpServer } from '../../client/http-servers.js'
import { started } from '../../service/support.js'
import { withCleanEnv } from '../../client/release/clean-env.js'

const TOKEN = 'canary-token-4711'
const EVERY_MS = 10_000

withCleanEnv()

interface Reported {
  readonly fields: object
  readonly message: string
}

function beating(
  clock: FakeClock,
  url: string,
  options: Partial<StartHeartbeatOptions> = {},
): { stop: () => Promise<void>; reported: Reported[] } {
  const reported: Reported[] = []
  const logger = { warn: (fields: object, message: string) => void reported.push({ fields, message }), error: () => {} }
  const stop = startHeartbeatWithClock(clock, TOKEN, {
    everyMs: EVERY_MS,
    url,
    logger,
    retry: { maxMs: 1 },
    ...options,
  })
  onTestFinished(stop)
  return { stop, reported }
}

/** The long timeout is for a busy machine. */
function eventually(holds: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(holds, { timeout: 20_000 })
}

/** The replies are real while the fake clock is stopped. */
async function reaches(count: number, counted: () => number): Promise<void> {
  await eventually(() => expect(counted()).toBe(count))
}

test('sends a ping immediately and then once per interval', async () => {
  const service = await started({ monitorTokens: [TOKEN] })
  const clock = new FakeClock()
  const { stop, reported } = beating(clock, service.url)
  for (const beats of [1, 2, 3]) {
    await reaches(beats, () => service.heartbeats().items.length)
    // The reply must arrive before the next interval.
    await eventually(async () => {
      await clock.advance(0)
      expect(clock.timers).toBe(1)
    })
    await clock.advance(EVERY_MS)
  }
  await reaches(4, () => service.heartbeats().items.length)
  await stop()
  await clock.advance(10 * EVERY_MS)
  expect(service.heartbeats().items).toHaveLength(4)
  expect({ reported, timers: clock.timers }).toEqual({ reported: [], timers: 0 })
})

test('does not start a ping while another is pending', async () => {
  let answer = (): void => {}
  const server = await httpServer((response) => {
    if (server.came.length > 1) response.end()
    else answer = () => void response.end()
  })
  const clock = new FakeClock()
  beating(clock, `${server.origin}/api/v1`)
  await reaches(1, () => server.came.length)
  await clock.advance(5 * EVERY_MS)
  answer()
  // Pings that waited for this reply would arrive among these.
  for (let n = 0; n < 20; n += 1) await (await fetch(server.origin)).text()
  expect(server.came).toHaveLength(1 + 20)
})

test('reports the first failure at once, then a count once a minute, never the token, and continues', async () => {
  const service = await started({ monitorTokens: [TOKEN] })
  service.faults.add({ kind: 'status', status: 404 })
  const clock = new FakeClock()
  const { reported } = beating(clock, service.url)
  for (let beats = 1; beats <= 7; beats += 1) {
    await reaches(beats, () => service.requests.filter(({ status }) => status !== null).length)
    await eventually(async () => {
      await clock.advance(0)
      expect(reported.length).toBe(beats < 7 ? 1 : 2)
    })
    if (beats < 7) await clock.advance(EVERY_MS)
  }
  expect(reported.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^a heartbeat failed: .*404/),
    expect.stringMatching(/^\d heartbeats failed: .*404/),
  ])
  expect(JSON.stringify(reported)).not.toContain(TOKEN.slice(0, 8))
  service.faults.clear()
  await clock.advance(EVERY_MS)
  await reaches(1, () => service.heartbeats().items.length)
})

test('skips pings until a Retry-After has passed', async () => {
  const service = await started({ monitorTokens: ['x=='] })
  service.faults.add({ kind: 'status', status: 429, retryAfter: 60, times: 1 })
  const clock = new FakeClock()
  const reported: string[] = []
  const logger = { warn: (_: object, message: string) => void reported.push(message), error: () => {} }
  onTestFinished(startHeartbeatWithClock(clock, 'x==', { everyMs: EVERY_MS, url: service.url, logger }))
  await reaches(1, () => reported.length)
  expect(reported[0]).toMatch(/429.*60 s$/)
  await clock.advance(59_000)
  expect([service.requests.length, service.heartbeats().items.length]).toEqual([1, 0])
  await clock.advance(2_000)
  await reaches(1, () => service.heartbeats().items.length)
})

test('discards its pings outside production and without a URL', async () => {
  const clock = new FakeClock()
  const { stop, reported } = beating(clock, '', { url: undefined })
  await clock.advance(EVERY_MS)
  await stop()
  expect({ reported, timers: clock.timers }).toEqual({ reported: [], timers: 0 })
})

test('stopping during a request reports nothing and leaves no timer', async () => {
  const server = await httpServer(() => {})
  const clock = new FakeClock()
  const { stop, reported } = beating(clock, `${server.origin}/api/v1`)
  await reaches(1, () => server.came.length)
  await stop()
  await stop()
  await eventually(() => expect(server.openSockets.size).toBe(0))
  expect({ reported, timers: clock.timers }).toEqual({ reported: [], timers: 0 })
})

describe('invalid arguments throw immediately', () => {
  test.each([999, 1_000.5, 2 ** 31, '1000', undefined])('everyMs %s', (everyMs) => {
    expect(() => startHeartbeat(TOKEN, { everyMs: everyMs as number, url: 'http://127.0.0.1:1/api/v1' })).toThrow(
      expect.objectContaining({
        code: 'CONFIG',
        message: expect.stringContaining('everyMs'),
      }),
    )
  })

  test('options', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(() => startHeartbeat(TOKEN, { everyMs: EVERY_MS })).toThrow(expect.objectContaining({ code: 'CONFIG' }))
  })
})

test('its timers do not keep the process alive', () => {
  const timer = vi.spyOn(backgroundClock, 'timer')
  const stop = startHeartbeat(TOKEN, { everyMs: EVERY_MS, url: 'http://127.0.0.1:1/api/v1' })
  expect(timer).toHaveBeenCalledWith(EVERY_MS, expect.any(Function))
  timer.mockRestore()
  return stop()
})
