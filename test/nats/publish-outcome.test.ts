/** Conversion of errors of the NATS client to outcomes. */
import { JetStreamApiError, JetStreamError, jetstream } from '@nats-io/jetstream'
import {
  AuthorizationError,
  ClosedConnectionError,
  ConnectionError,
  credsAuthenticator,
  NoRespondersError,
  nkeyAuthenticator,
  PermissionViolationError,
  ProtocolError,
  RequestError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node'
import type { NatsConnection } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import { isUnanswered } from '../../src/nats/nats-error.js'
import { toPublishFailure } from '../../src/nats/publish-outcome.js'

const RETRY = { kind: 'retryable', queue: 'unavailable' }
const FORBIDDEN = { kind: 'endpoint-rejected', queue: 'forbidden' }
const MISCONFIGURED = { kind: 'endpoint-rejected', queue: 'misconfigured' }
const UNAUTHORIZED = { kind: 'endpoint-rejected', queue: 'unauthorized' }

/** The error that `publish()` throws for a reply of JetStream. */
async function thrownFor(reply: object | Error): Promise<unknown> {
  const connection = {
    options: { inboxPrefix: '_INBOX' },
    request: () =>
      reply instanceof Error
        ? Promise.reject(reply)
        : Promise.resolve({ data: new TextEncoder().encode(JSON.stringify(reply)) }),
  }
  return await jetstream(connection as never as NatsConnection)
    .publish('PINO_INGEST.logs')
    .then(
      () => expect.unreachable('accepted'),
      (error: unknown) => error,
    )
}

const apiError = (code: number, err_code: number, description: string): object => ({
  error: { code, err_code, description },
})

function thrown(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

describe('replies of JetStream', () => {
  test.each([
    [apiError(503, 10_077, 'maximum bytes exceeded'), { kind: 'retryable', queue: 'full' }],
    [apiError(503, 10_077, 'maximum messages exceeded'), { kind: 'retryable', queue: 'full' }],
    [apiError(400, 10_002, 'resource limits exceeded for account'), { kind: 'retryable', queue: 'full' }],
    [apiError(503, 10_023, 'insufficient resources'), { kind: 'retryable', queue: 'full' }],
    [apiError(400, 10_054, 'message size exceeds maximum allowed'), { kind: 'refused', status: 413, rejected: [] }],
    [apiError(400, 10_060, 'expected stream does not match'), MISCONFIGURED],
    [apiError(503, 10_039, 'JetStream not enabled for account'), MISCONFIGURED],
    [apiError(404, 10_059, 'stream not found'), MISCONFIGURED],
    [apiError(503, 10_008, 'JetStream system temporarily unavailable'), RETRY],
    [apiError(500, 10_049, 'deleted message'), RETRY],
    [{ stream: '' }, RETRY],
  ])('%j', async (reply, outcome) => {
    const error = await thrownFor(reply)
    expect(isUnanswered(error)).toBe(false)
    expect(toPublishFailure(error)).toMatchObject(outcome)
  })

  test('a publish without a responder is retried, and isUnanswered() is true', async () => {
    const error = await thrownFor(new RequestError('no responders', { cause: new NoRespondersError('a') }))
    expect(isUnanswered(error)).toBe(true)
    expect(toPublishFailure(error)).toMatchObject(RETRY)
  })

  test('the reason contains text and code', async () => {
    const error = await thrownFor(apiError(503, 10_077, 'maximum bytes exceeded'))
    expect(toPublishFailure(error).reason).toBe('maximum bytes exceeded (10077)')
  })
})

test.each<readonly [unknown, object]>([
  [new TimeoutError(), RETRY],
  [new ConnectionError('connection refused'), RETRY],
  [new ClosedConnectionError(), RETRY],
  [new RequestError('connection closed'), RETRY],
  [Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), RETRY],
  [Object.assign(new Error('getaddrinfo ENOTFOUND n1'), { code: 'ENOTFOUND' }), RETRY],
  [new JetStreamError('invalid ack response'), RETRY],
  [new ProtocolError('maximum connections exceeded'), RETRY],
  ['not an error', RETRY],
  [new AuthorizationError('Authorization Violation'), UNAUTHORIZED],
  [new AuthorizationError('Account Authentication Expired'), UNAUTHORIZED],
  [new UserAuthenticationExpiredError('User Authentication Expired'), UNAUTHORIZED],
  [new ProtocolError('User Authentication Revoked'), UNAUTHORIZED],
  // The server is slow; the credentials may be valid.
  [new AuthorizationError('Authentication Timeout'), RETRY],
  [PermissionViolationError.parse('Permissions Violation for Publish to "PINO_INGEST.logs"'), FORBIDDEN],
  [
    new RequestError('', {
      cause: PermissionViolationError.parse('Permissions Violation for Subscription to "_INBOX.a.*"'),
    }),
    FORBIDDEN,
  ],
  [new JetStreamApiError({ code: 400, err_code: 10_002, description: 'limit' }), { kind: 'retryable', queue: 'full' }],
  // Malformed credentials.
  [thrown(() => credsAuthenticator(new TextEncoder().encode('none'))('nonce')), UNAUTHORIZED],
  [thrown(() => nkeyAuthenticator(new TextEncoder().encode(`SU${'A'.repeat(56)}`))('nonce')), UNAUTHORIZED],
])('%s', (error, outcome) => {
  expect(toPublishFailure(error)).toMatchObject(outcome)
})
