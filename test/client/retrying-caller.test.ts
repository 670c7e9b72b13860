/** Attempts, waits and errors, with a fake clock and replies from a list. */
import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/options/secret.js'
import { RetryingCaller } from '../../src/client/retrying-caller.js'
import type { Call, RetryingCallerOptions } from '../../src/client/retrying-caller.js'
import { HttpFailure } from '../../src/client/http-types.js'
import type { Http, HttpReply } from '../../src/client/http-types.js'
import type { IngestError } from '../../src/shared/errors.js'
import { KeyPause } from '../../src/shared/key-pause.js'
import { FakeClock, settled } from '../fake-clock.js'
import { failureOf } from './failure-of.js'

const KEY = 'canary-key+/4711'
const CALL: Call = { path: '/ingest', body: '{}' }
const reply = (status: number, headers: HttpReply['headers'] = {}, body: unknown = {}): HttpReply => ({
  status,
  headers,
  text: JSON.stringify(body),
  truncated: false,
})
const network = new HttpFailure('network', 'POST http://x/api/v1/ingest: ECONNREFUSED')

/** Takes the place of a reply that the test sends later by calling `answer`. */
const later = Symbol('retryable')

/** The last reply is repeated. */
function scripted(
  replies: readonly (HttpReply | HttpFailure | Error | typeof later)[],
  options: Partial<RetryingCallerOptions> = {},
): {
  calls: RetryingCaller
  clock: FakeClock
  sentAt: number[]
  sent: unknown[]
  timeouts: unknown[]
  answer: (reply: HttpReply) => void
} {
  const clock = new FakeClock()
  const sentAt: number[] = []
  const sent: unknown[] = []
  const timeouts: unknown[] = []
  let answer: (reply: HttpReply) => void = () => {}
  const http: Pick<Http, 'post' | 'close'> = {
    async post(path, body, init) {
      sentAt.push(clock.now())
      sent.push([path, body, init?.keyless])
      timeouts.push(init?.timeoutMs)
      const next = replies[Math.min(sentAt.length, replies.length) - 1]
      if (next === later) return new Promise((resolve) => (answer = resolve))
      if (next instanceof Error || next === undefined) throw next
      return next
    },
    close: async () => {},
  }
  const calls = new RetryingCaller({
    http,
    clock,
    random: () => 0.5,
    secrets: [new Secret(KEY)],
    maxAttempts: 3,
    timeoutMs: 30_000,
    retry: { maxMs: 30_000 },
    ...options,
  })
  return { calls, clock, sentAt, sent, timeouts, answer: (late) => answer(late) }
}

describe('attempts', () => {
  test.each([network, new HttpFailure('timeout', 'late'), reply(408), reply(425), reply(429), reply(500), reply(503)])(
    '%#: makes three attempts, with the backoff between them',
    async (failure) => {
      const { calls, clock, sentAt } = scripted([failure])
      const error = failureOf<IngestError>(calls.post(CALL), KEY)
      await clock.advance(100_000)
      expect((await error).message).toContain('(3 attempts)')
      expect(sentAt).toEqual([0, 125, 375])
      expect(clock.timers).toBe(0)
    },
  )

  test.each([400, 401, 403, 404, 409, 413, 422, 301, 307])('does not retry %i', async (status) => {
    const { calls, sentAt } = scripted([reply(status)])
    expect((await failureOf<IngestError>(calls.post(CALL), KEY)).message).not.toContain('attempts')
    expect(sentAt).toEqual([0])
  })

  test('end at the first final reply, and send the same bytes each time', async () => {
    const { calls, clock, sent } = scripted([network, reply(200)], { maxAttempts: 10 })
    const done = calls.post(CALL)
    await clock.advance(1_000)
    expect((await done).status).toBe(200)
    expect(sent).toEqual([
      ['/ingest', '{}', false],
      ['/ingest', '{}', false],
    ])
  })

  test('throw an unexpected error unchanged', async () => {
    const bug = new TypeError('x is not a function')
    await expect(scripted([bug]).calls.post(CALL)).rejects.toBe(bug)
  })
})

describe('Retry-After', () => {
  test('delays all requests until it has passed, and spreads them afterwards', async () => {
    const { calls, clock, sentAt } = scripted([
      reply(429, { 'retry-after': '7' }),
      reply(503, { 'retry-after': '2' }),
      reply(200),
    ])
    const done = calls.post(CALL)
    await clock.advance(6_999)
    expect(sentAt).toEqual([0])
    await clock.advance(100_000)
    await done
    expect(sentAt).toEqual([0, 7_475, 9_825])
  })
})

describe('the deadline', () => {
  test.each([429, 503])('fails at once with retryAfterMs if the Retry-After of a %i ends after it', async (status) => {
    const { calls, clock, sentAt } = scripted([reply(status, { 'retry-after': '3600' }, { message: 'slow down' })])
    const error = await failureOf<IngestError>(calls.post(CALL), KEY)
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      status,
      retryAfterMs: 3_600_000,
      message: expect.stringMatching(/^status \d+: slow down .*3600 s$/),
    })
    expect([sentAt, clock.now(), clock.timers]).toEqual([[0], 0, 0])
  })

  test('until the Retry-After has passed, calls with the key fail without a request, and heartbeats are sent', async () => {
    const { calls, clock, sentAt } = scripted([reply(429, { 'retry-after': '60' }), reply(200)], { random: () => 0 })
    await failureOf<IngestError>(calls.post(CALL), KEY)
    await clock.advance(10_000)
    expect(await failureOf<IngestError>(calls.post({ ...CALL, path: '/feedback' }), KEY)).toMatchObject({
      code: 'RATE_LIMITED',
      status: undefined,
      retryAfterMs: 50_000,
      message: expect.stringContaining('50 s'),
    })
    expect([sentAt, clock.timers]).toEqual([[0], 0])
    await calls.post({ path: '/heartbeat/t', body: null })
    await clock.advance(20_001)
    const done = calls.post(CALL)
    await clock.advance(29_998)
    expect(sentAt).toEqual([0, 10_000])
    await clock.advance(1)
    expect((await done).status).toBe(200)
    expect(sentAt).toEqual([0, 10_000, 60_000])
  })

  test('the Retry-After of a heartbeat applies only to heartbeats', async () => {
    const { calls, clock, sentAt } = scripted([reply(429, { 'retry-after': '60' }), reply(200)], { random: () => 0 })
    const heartbeat: Call = { path: '/heartbeat/t', body: null }
    expect(await failureOf<IngestError>(calls.post(heartbeat))).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 60_000,
    })
    expect(await failureOf<IngestError>(calls.post(heartbeat))).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 60_000,
    })
    expect((await calls.post(CALL)).status).toBe(200)
    expect(sentAt).toEqual([0, 0])
    await clock.advance(60_000)
    expect((await calls.post(heartbeat)).status).toBe(200)
  })

  test('does not wait for an attempt that would start after it', async () => {
    const { calls, clock, sentAt } = scripted([reply(500)], { timeoutMs: 250, maxAttempts: 10 })
    const error = failureOf<IngestError>(calls.post(CALL), KEY)
    await clock.advance(125)
    // The next attempt would start at 375 ms.
    expect(await error).toMatchObject({
      code: 'UNAVAILABLE',
      status: 500,
      retryAfterMs: undefined,
      message: 'status 500 (2 attempts in timeoutMs 250)',
    })
    expect([sentAt, clock.timers]).toEqual([[0, 125], 0])
  })

  test('each request gets the remaining time', async () => {
    const { calls, clock, timeouts } = scripted([network, reply(503, { 'retry-after': '7' }), reply(200)])
    const done = calls.post(CALL)
    await clock.advance(10_000)
    await done
    expect(timeouts).toEqual([30_000, 29_875, 22_275])
  })
})

describe('wired to a transport', () => {
  test('shares the pause of the key with it, except for a heartbeat', async () => {
    const busy = reply(429, { 'retry-after': '7' })
    const { calls, clock, sentAt } = scripted([busy, busy, reply(200)], { maxAttempts: 1 })
    const pause = new KeyPause(clock, () => 0)
    calls.setHooks({ clock, pause })
    await failureOf(calls.post({ path: '/heartbeat/t', body: null }))
    expect(pause.leftMs).toBe(0)
    await failureOf(calls.post(CALL))
    expect(pause.leftMs).toBe(7_000)
    pause.apply(9_000)
    const done = calls.post(CALL)
    await clock.advance(9_000)
    expect((await done).status).toBe(200)
    expect(sentAt).toEqual([0, 0, 9_000])
  })
})

describe('abort', () => {
  test("between two attempts ends at once with the signal's reason, and leaves no timer or listener", async () => {
    const { calls, clock, sentAt } = scripted([reply(503, { 'retry-after': '3600' })], { timeoutMs: 4_000_000 })
    const caller = new AbortController()
    const error = failureOf<IngestError>(calls.post({ ...CALL, signal: caller.signal }), KEY)
    await settled()
    expect(clock.timers).toBe(1)
    const reason = new Error('enough')
    caller.abort(reason)
    expect(await error).toMatchObject({ code: 'ABORTED', cause: reason })
    await clock.advance(1e7)
    expect([clock.timers, sentAt]).toEqual([0, [0]])
  })

  test('close() ends waiting calls, and later ones', async () => {
    const { calls, clock, sentAt } = scripted([network])
    const error = failureOf<IngestError>(calls.post(CALL), KEY)
    await settled()
    await calls.close()
    expect(await error).toMatchObject({ code: 'ABORTED', message: 'the client is closed' })
    expect((await failureOf<IngestError>(calls.post(CALL))).code).toBe('ABORTED')
    expect([clock.timers, sentAt]).toEqual([0, [0]])
  })
})

describe('the error', () => {
  test.each<[HttpReply | HttpFailure, string, number | undefined, RegExp]>([
    [network, 'UNAVAILABLE', undefined, /^POST http:\/\/x\/api\/v1\/ingest: ECONNREFUSED$/],
    [new HttpFailure('client', 'why', 'do this'), 'UNAVAILABLE', undefined, /why.*do this$/],
    [reply(401, {}, { detail: [{ msg: 'no such key', type: 'auth_error' }] }), 'AUTH', 401, /status 401: no such key$/],
    [reply(403), 'AUTH', 403, /PINO_INGEST_API_KEY\b.*PINO_INGEST_API_KEY_FILE.*status 403/],
    [reply(400, {}, { message: 'bad' }), 'REJECTED', 400, /^status 400: bad$/],
    [reply(404), 'REJECTED', 404, /^status 404/],
    [reply(413), 'REJECTED', 413, /^status 413$/],
    [
      reply(422, {}, { detail: [{ loc: ['body', 'logs', 0, 'level'], msg: 'field required' }] }),
      'REJECTED',
      422,
      /body\.logs\.0\.level: field required/,
    ],
    [reply(429), 'RATE_LIMITED', 429, /^status 429$/],
    [reply(503), 'UNAVAILABLE', 503, /^status 503$/],
    [
      { ...reply(200, { 'content-type': 'text/html' }), text: `<title>Sign in</title>${KEY}` },
      'MISDIRECTED',
      200,
      /^status 200, text\/html: <title>Sign in<\/title>\*\*\*; .*check the url$/,
    ],
    [
      reply(302, { location: `http://evil.example/?k=${KEY}` }),
      'MISDIRECTED',
      302,
      /^status 302: redirects to http:\/\/evil\.example\/; redirects are not followed, check the url$/,
    ],
  ])('%#: %s %s', async (last, code, status, message) => {
    const error = await failureOf<IngestError>(scripted([last], { maxAttempts: 1 }).calls.post(CALL), KEY)
    expect(error).toMatchObject({ name: 'IngestError', code, status })
    expect(error.message).toMatch(message)
  })

  test('a rejected heartbeat does not blame the key', async () => {
    const { calls } = scripted([reply(401)])
    const { message } = await failureOf(calls.post({ path: '/heartbeat/t', body: null }), KEY)
    expect(message).toMatch(/monitor token.* status 401$/)
    expect(message).not.toContain('PINO_INGEST_API_KEY')
  })

  const echoes = (secret: string): unknown[] => [
    { message: `got ${secret}` },
    { detail: [{ loc: ['body', secret], msg: `${secret.slice(0, 8)}…` }] },
    { error: encodeURIComponent(secret) },
    { detail: Buffer.from(secret).toString('base64') },
    { errors: [{ index: 0, field: secret, message: secret, code: secret }] },
    { message: `${'x'.repeat(178)}${secret}` },
    // In JSON within JSON, a quote would be escaped twice.
    { detail: JSON.stringify({ key: secret }) },
  ]
  test.each(echoes(`${KEY}"q`).map((body) => [body]))('shows neither key nor token: %j', async (body) => {
    const token = 'token-secret-0815'
    for (const [secret, call] of [
      [`${KEY}"q`, CALL],
      [token, { path: '/heartbeat/x', body: null, secrets: [token] }],
    ] as const) {
      const echo = JSON.parse(
        JSON.stringify(body).replaceAll(JSON.stringify(`${KEY}"q`).slice(1, -1), JSON.stringify(secret).slice(1, -1)),
      ) as unknown
      for (const status of [302, 400, 401, 422, 500]) {
        const error = await failureOf<IngestError>(
          scripted([reply(status, {}, echo)], { maxAttempts: 1, secrets: [new Secret(`${KEY}"q`)] }).calls.post(call),
          secret,
          `${KEY}"q`,
        )
        expect(error.message).not.toContain(secret.slice(0, 8))
      }
    }
  })
})
