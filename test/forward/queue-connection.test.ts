/** Reports of failed connections. */
import { AuthorizationError, ConnectionError } from '@nats-io/transport-node'
import type { NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { QueueConnection } from '../../src/forward/queue-connection.js'
import { QueueHealth } from '../../src/forward/queue-health.js'
import type { NatsSettings } from '../../src/options/nats-settings.js'
import { pause } from '../../src/shared/pause.js'
import { FakeClock, settled } from '../fake-clock.js'

test.each([
  [new AuthorizationError('Authorization Violation'), 'AUTH', true],
  [new Error('x', { cause: new AuthorizationError('User Authentication Expired') }), 'AUTH', true],
  // The server is slow; the credentials may be valid.
  [new AuthorizationError('Authentication Timeout'), 'UNAVAILABLE', false],
  [new ConnectionError('connection refused'), 'UNAVAILABLE', false],
])('%s: %s', async (error, code, isLasting) => {
  const reports: unknown[] = []
  const health: Pick<QueueHealth, 'failed' | 'works'> = {
    failed: (_, ...[reason, text, lasting = false]) => void reports.push([reason, text, lasting]),
    works: () => {},
  }
  const connection = new QueueConnection({
    settings: { servers: ['a:1'] } as unknown as NatsSettings,
    connect: async () => {
      throw error
    },
    health,
    clock: new FakeClock(),
  })
  void connection.keepOpening()
  await settled()
  expect(reports).toEqual([[code, expect.stringContaining(error.message), isLasting]])
  await connection.close()
})

test('a lost connection is reported while the client fails to reconnect', async () => {
  const clock = new FakeClock()
  const problems: string[] = []
  const report = { problem: (code: string) => problems.push(code), note: () => {}, discard: () => false }
  async function* status(): AsyncGenerator<object> {
    yield { type: 'disconnect' }
    for (;;) {
      await pause(clock, 1_000, new AbortController().signal)
      yield { type: 'reconnecting' }
    }
  }
  const connection = new QueueConnection({
    settings: { servers: ['a:1'] } as unknown as NatsSettings,
    connect: async () => ({ status, close: async () => {} }) as unknown as NatsConnection,
    health: new QueueHealth({ clock, report }),
    clock,
  })
  void connection.keepOpening()
  await clock.advance(4_000)
  expect([connection.current, problems]).toEqual([undefined, []])
  await clock.advance(60_000)
  expect(problems).toEqual(['UNAVAILABLE'])
  await connection.close()
})
