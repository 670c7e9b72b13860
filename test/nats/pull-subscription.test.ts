/** Pull requests: when they end, and which messages are received. */
import type { Msg, Subscription } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { parseAckSubject } from '../../src/nats/jetstream-request.js'
import { PullSubscription } from '../../src/nats/pull-subscription.js'
import type { PullFailure } from '../../src/nats/pull-subscription.js'
import { FakeClock, settled } from '../fake-clock.js'

interface Rig {
  readonly clock: FakeClock
  readonly pulls: PullSubscription
  readonly received: Msg[]
  readonly answers: () => number
  readonly requests: { readonly subject: string; readonly reply: string; readonly body: Record<string, number> }[]
  readonly deliver: () => void
  readonly status: (code: number, description?: string, pull?: number) => void
}

function rig(): Rig {
  const clock = new FakeClock()
  const received: Msg[] = []
  let answers = 0
  const requests: Rig['requests'] = []
  let callback = (_error: Error | null, _message: Msg): void => {}
  const pulls = new PullSubscription({
    connection: {
      subscribe: (_subject, options) => {
        callback = options?.callback as typeof callback
        return { drain: () => Promise.resolve(), isClosed: () => false } as Subscription
      },
      publish: (subject, body, options) => {
        requests.push({
          subject,
          reply: options?.reply ?? '',
          body: JSON.parse(String(body)) as Record<string, number>,
        })
      },
    },
    stream: 'S',
    consumer: 'c',
    clock,
    onMessage: (message) => received.push(message),
    onAnswer: () => (answers += 1),
    inbox: 'inbox',
  })
  return {
    clock,
    pulls,
    received,
    answers: () => answers,
    requests,
    deliver: () => callback(null, { subject: 'logs', data: new Uint8Array(1) } as Msg),
    status: (code, description = '', pull = requests.length) =>
      callback(null, { subject: `inbox.${pull}`, headers: { code, description } } as unknown as Msg),
  }
}

async function outcomeOf(pull: Promise<PullFailure | undefined>): Promise<PullFailure | 'done' | 'pending'> {
  await settled()
  return Promise.race([
    pull.then((failure) => failure ?? 'done'),
    Promise.resolve('pending' as const).then((one) => one),
  ])
}

test('a request ends when it is filled', async () => {
  const { pulls, deliver, received, requests } = rig()
  const pull = pulls.pull(2, 1_000)
  expect(requests[0]).toMatchObject({ subject: '$JS.API.CONSUMER.MSG.NEXT.S.c', reply: 'inbox.1', body: { batch: 2 } })
  deliver()
  expect(await outcomeOf(pull)).toBe('pending')
  deliver()
  expect(await outcomeOf(pull)).toBe('done')
  expect(received).toHaveLength(2)
})

test.each([404, 408])('a request ends with status %i', async (code) => {
  const { pulls, status } = rig()
  const pull = pulls.pull(2, 1_000)
  status(code)
  expect(await outcomeOf(pull)).toBe('done')
})

test('a request ends when the server reports that it is complete', async () => {
  const { pulls, status } = rig()
  const pull = pulls.pull(2, 1_000)
  status(409, 'Batch Completed')
  expect(await outcomeOf(pull)).toBe('done')
})

test.each([409, 503])('a request fails with status %i', async (code) => {
  const { pulls, status } = rig()
  const pull = pulls.pull(2, 1_000)
  status(code, 'Consumer Deleted')
  expect(await outcomeOf(pull)).toMatchObject({ reason: expect.any(String) })
})

test('a request fails without heartbeats', async () => {
  const { pulls, status, clock } = rig()
  const pull = pulls.pull(1, 1_000)
  for (let seconds = 0; seconds < 4; seconds += 1) {
    await clock.advance(1_000)
    status(100)
  }
  expect(await outcomeOf(pull)).toBe('pending')
  await clock.advance(3_000)
  expect(await outcomeOf(pull)).toMatchObject({ reason: expect.any(String) })
  expect(clock.timers).toBe(0)
})

test('a message that arrives after the end of its request is received', async () => {
  const { pulls, deliver, received } = rig()
  const pull = pulls.pull(1, 1_000)
  pulls.fail('the connection was lost')
  expect(await outcomeOf(pull)).toEqual({ reason: 'the connection was lost' })
  deliver()
  expect(received).toHaveLength(1)
})

test('the status of an earlier request does not end the current one', async () => {
  const { pulls, status } = rig()
  void pulls.pull(1, 1_000)
  pulls.fail('lost')
  const second = pulls.pull(1, 1_000)
  status(408, '', 1)
  expect(await outcomeOf(second)).toBe('pending')
  status(408, '', 2)
  expect(await outcomeOf(second)).toBe('done')
})

test.each([
  ['$JS.ACK.S.c.3.17.9.1700000000000000000.5', { deliveries: 3, sequence: 17, storedAt: '1700000000000000000' }],
  ['$JS.ACK._.hash.S.c.2.18.9.1700000000000000000.5', { deliveries: 2, sequence: 18, storedAt: '1700000000000000000' }],
  [
    '$JS.ACK.hub.hash.S.c.1.19.9.1700000000000000000.5.token',
    { deliveries: 1, sequence: 19, storedAt: '1700000000000000000' },
  ],
  ['_INBOX.x', undefined],
  [undefined, undefined],
])('the reply subject %s', (reply, facts) => {
  expect(parseAckSubject(reply)).toEqual(facts)
})

test('a heartbeat and a message call onAnswer, a refusal does not', () => {
  const { pulls, status, deliver, answers } = rig()
  void pulls.pull(2, 1_000)
  status(100)
  deliver()
  expect(answers()).toBe(2)
  status(409, 'Consumer is push based')
  expect(answers()).toBe(2)
})

test.each([
  ['Consumer is push based', true],
  ['Exceeded MaxRequestExpires of 1s', true],
  ['Consumer Deleted', false],
  ['Leadership Change', false],
  ['Server Shutdown', false],
  ['Exceeded MaxWaiting', false],
])('"%s" is lasting: %s', async (description, isLasting) => {
  const { pulls, status } = rig()
  const pull = pulls.pull(2, 1_000)
  status(409, description)
  expect(await pull).toMatchObject({ isLasting })
})

test('a message larger than max_bytes is requested alone', async () => {
  const { pulls, requests, status, deliver } = rig()
  const first = pulls.pull(5, 1_000)
  expect(requests.at(-1)?.body).toMatchObject({ batch: 5, max_bytes: 1_000 })
  deliver()
  status(409, 'Message Size Exceeds MaxBytes')
  expect(await outcomeOf(first)).toBe('done')
  const second = pulls.pull(5, 1_000)
  expect(requests.at(-1)?.body).toMatchObject({ batch: 1 })
  expect(requests.at(-1)?.body).not.toHaveProperty('max_bytes')
  deliver()
  expect(await outcomeOf(second)).toBe('done')
  void pulls.pull(5, 1_000)
  expect(requests.at(-1)?.body).toMatchObject({ batch: 5, max_bytes: 1_000 })
})
