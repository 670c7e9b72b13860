/** The worker's reply to a flush, even if the worker is busy. */
import { EventEmitter } from 'node:events'
import type { MessagePort } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { answerFlushRequests } from '../../src/transport/flush-responder.js'
import type { FlushReply, FlushRequest } from '../../src/transport/flush-message.js'
import type { Pipeline } from '../../src/pipeline/pipeline.js'
import { FakeClock } from '../fake-clock.js'

const REGISTRY = Symbol.for('pino-ingest.pipelines')

let clock: FakeClock
let replies: FlushReply[]
let port: EventEmitter
beforeEach(() => {
  clock = new FakeClock()
  replies = []
  port = Object.assign(new EventEmitter(), {
    postMessage: ({ args: [reply] }: { args: [FlushReply] }) => void replies.push(reply),
  })
})
afterEach(() => {
  delete (globalThis as { [REGISTRY]?: unknown })[REGISTRY]
})

/** Every read of its account returns more entries. */
class BusyAccount extends Account {
  #looks = 0

  constructor() {
    super()
    Object.defineProperty(this, 'received', { get: () => (this.#looks += 1), set: () => {} })
  }
}

function listen(flush: Pipeline['flush'], account = new Account()): void {
  answerFlushRequests(
    port as unknown as MessagePort,
    Promise.resolve({
      account,
      get snapshot() {
        return account.snapshot()
      },
      flush,
    } as unknown as Pipeline),
    clock,
  )
}

function ask(step: FlushRequest['step'], answerInMs: number): void {
  const request: FlushRequest = { code: 'PINO_INGEST_FLUSH', step, id: 'one', leftMs: answerInMs }
  port.emit('message', request)
}

test('an app that keeps logging does not delay the reply', async () => {
  listen(() => Promise.resolve('acknowledged'), new BusyAccount())
  ask('begin', 5_000)
  ask('read', 5_000)
  await vi.waitFor(() => expect(replies).toHaveLength(1), { timeout: 30_000 })
  expect(replies).toMatchObject([{ id: 'one', state: 'acknowledged' }])
})

test.each(['read', 'not read'] as const)(
  '%s in time and not settled: replies with a timeout and the account',
  async (word) => {
    const account = new Account()
    account.received = 3
    account.addStage(() => 3)
    listen(() => new Promise(() => {}), account)
    ask('begin', 5_000)
    if (word === 'read') ask('read', 5_000)
    for (let turns = 0; turns < 100; turns += 1) await clock.advance(0)
    expect(replies).toEqual([])
    await clock.advance(5_000)
    if (word === 'not read') ask('end', 0)
    await vi.waitFor(async () => {
      await clock.advance(0)
      expect(replies).toMatchObject([
        { id: 'one', state: 'timeout', account: { received: 3, pending: 3, balances: true } },
      ])
    })
  },
)

test('busy until the deadline: replies with a timeout and the account', async () => {
  const account = new BusyAccount()
  listen(() => new Promise(() => {}), account)
  ask('begin', 5_000)
  ask('read', 5_000)
  await clock.advance(5_000)
  await vi.waitFor(async () => {
    await clock.advance(0)
    expect(replies).toMatchObject([{ id: 'one', state: 'timeout' }])
    expect(replies[0]?.account?.received).toBeGreaterThan(0)
  })
})
