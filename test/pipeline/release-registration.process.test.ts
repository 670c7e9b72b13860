/** The registration at start: short, retried once, and delayed by a Retry-After of other requests. */
import { onTestFinished, expect, test, vi } from 'vitest'
import { IngestError } from '../../src/shared/errors.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { createRegistration } from '../../src/pipeline/release-registration.js'
import { KEY, httpServer } from '../client/http-servers.js'
import { FakeClock } from '../fake-clock.js'

interface Reply {
  readonly status: number
  readonly retryAfter?: string
}

/** The last reply is repeated. Without replies the service does not answer. */
async function registering(replies: readonly Reply[], { heldMs = 0, requestTimeoutMs = 10_000 } = {}) {
  const clock = new FakeClock()
  const server = await httpServer((response, { url }) => {
    if (!url.endsWith('/releases/register')) throw new Error(`not to be called: ${url}`)
    const reply = replies[Math.min(server.came.length, replies.length) - 1]
    if (reply === undefined) return
    response.statusCode = reply.status
    if (reply.retryAfter !== undefined) response.setHeader('retry-after', reply.retryAfter)
    response.end('{"release_id":"rel-1"}')
  })
  const settings = resolveOptions(
    {
      url: `${server.origin}/api/v1`,
      apiKey: KEY,
      spool: false,
      version: '1',
      requestTimeoutMs,
      retry: { minMs: 1, maxMs: 1 },
    },
    { env: {}, readFile: () => '' },
  )
  const controller = new AbortController()
  const reported: number[] = []
  const putOff: string[] = []
  let until = heldMs
  const register = createRegistration({
    settings,
    clock,
    retryAfterLeftMs: () => Math.max(until - clock.now(), 0),
    onRetryAfter: (delayMs) => {
      reported.push(delayMs)
      until = Math.max(until, clock.now() + delayMs)
    },
    onPostponed: ({ code }) => void putOff.push(code),
  })
  const settled: (string | IngestError)[] = []
  void register(controller.signal).then(
    (id) => settled.push(id),
    (error: IngestError) => settled.push(error),
  )
  onTestFinished(() => controller.abort())
  return { clock, server, settled, reported, putOff, controller }
}

const came = async (server: { readonly came: readonly unknown[] }, count: number): Promise<void> =>
  vi.waitFor(() => expect(server.came).toHaveLength(count), { timeout: 8_000 })

test('does not retry a failure without a Retry-After', async () => {
  const { clock, server, settled, reported } = await registering([{ status: 503 }])
  await vi.waitFor(() => expect(settled).toHaveLength(1), { timeout: 8_000 })
  await clock.advance(100_000)
  expect(settled[0]).toMatchObject({
    code: 'UNAVAILABLE',
    status: 503,
    message: expect.not.stringContaining('attempts'),
  })
  expect([server.came.length, reported, clock.timers]).toEqual([1, [], 0])
})

test('shares a Retry-After with the other senders, and retries when it has passed', async () => {
  const { clock, server, settled, reported, putOff } = await registering([
    { status: 429, retryAfter: '20' },
    { status: 201 },
  ])
  await vi.waitFor(() => expect(clock.timers).toBe(1), { timeout: 8_000 })
  expect([reported, putOff]).toEqual([[20_000], ['RATE_LIMITED']])
  await clock.advance(19_999)
  expect([server.came.length, settled]).toEqual([1, []])
  await clock.advance(1)
  await vi.waitFor(() => expect(settled).toEqual(['rel-1']), { timeout: 8_000 })
  expect([server.came.length, clock.timers]).toEqual([2, 0])
})

test('retries only once', async () => {
  const { clock, server, settled, reported, putOff } = await registering([{ status: 429, retryAfter: '2' }])
  await vi.waitFor(() => expect(clock.timers).toBe(1), { timeout: 8_000 })
  await clock.advance(2_000)
  await vi.waitFor(() => expect(settled).toHaveLength(1), { timeout: 8_000 })
  await clock.advance(100_000)
  expect(settled[0]).toMatchObject({ code: 'RATE_LIMITED' })
  // Entries wait for the id as well, so nothing is reported before the registration has failed.
  expect([server.came.length, reported, putOff]).toEqual([2, [2_000, 2_000], []])
})

test('sends nothing during a Retry-After of other requests', async () => {
  const { clock, server, settled } = await registering([{ status: 200 }], { heldMs: 7_000 })
  await clock.advance(6_999)
  expect(server.connections()).toBe(0)
  await clock.advance(1)
  await came(server, 1)
  await vi.waitFor(() => expect(settled).toEqual(['rel-1']), { timeout: 8_000 })
})

test('the signal ends the wait, and leaves no timer', async () => {
  const { clock, server, settled, controller } = await registering([{ status: 200 }], { heldMs: 7_000 })
  await clock.advance(1)
  expect(clock.timers).toBe(1)
  controller.abort()
  await vi.waitFor(() => expect(settled).toHaveLength(1), { timeout: 10_000 })
  expect(settled[0]).toMatchObject({ code: 'ABORTED' })
  expect([clock.timers, server.connections()]).toEqual([0, 0])
})

test('waits at most 5 s or requestTimeoutMs, whichever is less, for a service that does not answer', async () => {
  const [usual, short] = await Promise.all([registering([]), registering([], { requestTimeoutMs: 300 })])
  await vi.waitFor(() => expect(short.settled).toHaveLength(1), { timeout: 8_000 })
  expect(short.settled[0]).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('no reply within 300 ms'),
  })
  await vi.waitFor(() => expect(usual.settled).toHaveLength(1), { timeout: 15_000 })
  expect(usual.settled[0]).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('no reply within 5000 ms'),
  })
  expect([usual.server.came.length, short.server.came.length]).toEqual([1, 1])
}, 20_000)
