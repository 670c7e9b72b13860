/** Payloads that something on the way refuses, through the queue and the sender chain: what they cost other entries. */
import { expect, test } from 'vitest'
import type { Batch, Outcome } from '../../src/batch/sender.js'
import { createBatchBody, parseBatchEntries } from '../../src/batch/sub-batch.js'
import { Delivery } from '../../src/delivery/delivery.js'
import { CircuitBreaker } from '../../src/delivery/retry/circuit-breaker.js'
import { createSenderChain } from '../../src/delivery/sender-chain.js'
import { Account } from '../../src/diagnostics/account.js'
import { FakeClock } from '../fake-clock.js'
import { RecordingReport } from './scripted-sender.js'

const refused = (status: number): Outcome =>
  status === 400
    ? { kind: 'refused', status, reason: 'status 400', rejected: [] }
    : { kind: 'endpoint-rejected', status, reason: `status ${status}` }
const reset: Outcome = { kind: 'retryable', reason: 'socket hang up', mayConcernContent: true }

interface Setup {
  readonly maxConcurrency?: number
  /** @returns the refusal of these entries; undefined to accept them */
  readonly refuse: (entries: readonly string[], request: number) => Outcome | undefined
}

function setUp({ maxConcurrency = 1, refuse }: Setup) {
  const clock = new FakeClock()
  const accepted = new Map<string, number>()
  const letters: string[] = []
  let requests = 0
  let batches = 0
  const sender = {
    send: async ({ body }: Batch): Promise<Outcome> => {
      requests += 1
      const entries = parseBatchEntries(body)
      const refusal = refuse(entries, requests)
      if (refusal === undefined) for (const entry of entries) accepted.set(entry, clock.now())
      await new Promise<void>((resolve) => void clock.timer(25, resolve))
      return refusal ?? { kind: 'delivered', accepted: entries.length, rejected: [] }
    },
  }
  const breaker = new CircuitBreaker({ clock, maxConcurrency, retry: { minMs: 250, maxMs: 30_000 }, random: () => 0.5 })
  const chain = createSenderChain({
    settings: { compression: 'none' },
    target: { sender },
    breaker,
    random: () => 0,
    deadLetter: (those) => void letters.push(...those.map(({ entry }) => entry)),
  })
  const account = new Account()
  const delivery = new Delivery({
    sender: chain,
    breaker,
    clock,
    maxBufferBytes: 8 << 20,
    requestTimeoutMs: 10_000,
    account,
    report: new RecordingReport(),
  })
  account.addStage(() => delivery.pendingEntries)
  /** Each text is one entry. */
  const log = (...texts: string[]): void => {
    batches += 1
    const entries = texts.map((message, at) => JSON.stringify({ message: `${message} ${batches} ${at}` }))
    account.received += entries.length
    delivery.enqueue({
      batchId: `b${batches}`,
      count: entries.length,
      highestSeverity: 1,
      body: createBatchBody(`b${batches}`, entries),
    })
  }
  const good = (): number => [...accepted.keys()].filter((entry) => entry.includes('good')).length
  const goodLetters = (): string[] => letters.filter((entry) => entry.includes('good'))
  return { clock, log, delivery, accepted, good, letters, goodLetters, requests: () => requests }
}

const refusingBad =
  (outcome: Outcome) =>
  (entries: readonly string[]): Outcome | undefined =>
    entries.some((entry) => entry.includes('bad')) ? outcome : undefined

for (const status of [403, 400]) {
  test.each([1, 2, 3, 4])(
    `%i payloads in a row refused with ${status}: the next entries are delivered within 10 s`,
    async (inARow) => {
      for (const maxConcurrency of [1, 8]) {
        const { clock, log, good, goodLetters } = setUp({ maxConcurrency, refuse: refusingBad(refused(status)) })
        log('good')
        await clock.advance(1_000)
        for (let n = 0; n < inARow; n += 1) {
          log('bad')
          await clock.advance(1_000)
        }
        for (let n = 0; n < 60; n += 1) {
          log('good')
          await clock.advance(1_000)
          if (n === 9) expect(good()).toBeGreaterThan(1)
        }
        expect(good()).toBe(61)
        expect(goodLetters()).toEqual([])
      }
    },
  )
}

test('60 payloads in a row are refused: the entries after them are delivered within minutes', async () => {
  const { clock, log, good } = setUp({ refuse: refusingBad(refused(403)) })
  log('good')
  for (let n = 0; n < 60; n += 1) {
    log('bad')
    await clock.advance(1_000)
  }
  for (let n = 0; n < 300; n += 1) {
    log('good')
    await clock.advance(1_000)
  }
  expect(good()).toBe(301)
})

test.each([0.05, 0.2])('a share of %f of 10 batches per second is refused: all other entries arrive', async (share) => {
  const { clock, log, good, letters, goodLetters } = setUp({ refuse: refusingBad(refused(403)) })
  let expected = 0
  let seed = 11
  for (let n = 0; n < 600; n += 1) {
    seed = (seed * 1664525 + 1013904223) >>> 0
    const isBad = seed / 2 ** 32 < share
    if (!isBad) expected += 1
    log(isBad ? 'bad' : 'good')
    await clock.advance(100)
  }
  for (let n = 0; n < 200; n += 1) {
    log('good')
    await clock.advance(1_000)
  }
  expect(good()).toBe(expected + 200)
  expect(goodLetters()).toEqual([])
  expect(letters).toHaveLength(600 - expected)
})

test('an entry that resets the connection does not stop the search of other batches', async () => {
  const { clock, log, good, letters } = setUp({
    refuse: (entries) =>
      entries.some((entry) => entry.includes('refused'))
        ? refused(403)
        : entries.some((entry) => entry.includes('resets'))
          ? reset
          : undefined,
  })
  log('good', 'good', 'good')
  await clock.advance(1_000)
  log('good', 'refused', 'good', 'resets', 'good')
  await clock.advance(5_000)
  for (let n = 0; n < 5; n += 1) log(...Array.from({ length: 10 }, (_, at) => (at === n ? 'refused' : 'good')))
  for (let n = 0; n < 400; n += 1) {
    if (n % 10 === 9) log('good')
    await clock.advance(1_000)
  }
  await clock.advance(10_000)
  expect(good()).toBe(3 + 3 + 45 + 40)
  expect(letters.length).toBeGreaterThanOrEqual(5)
  expect(letters.filter((entry) => !entry.includes('refused'))).toEqual([])
})

test.each([401, 403, 400])(
  'one of two nodes answers %i to everything: no entry becomes a dead letter',
  async (status) => {
    const { clock, log, good, letters } = setUp({
      refuse: (_, request) => (request < 200 && request % 2 === 0 ? refused(status) : undefined),
    })
    for (let n = 0; n < 300; n += 1) {
      log(...Array.from({ length: 1 + (n % 3) }, () => 'good'))
      await clock.advance(1_000)
    }
    await clock.advance(120_000)
    expect(letters).toEqual([])
    expect(good()).toBe(600)
  },
)

test('half of the requests are refused at random: hardly any entry becomes a dead letter', async () => {
  let seed = 5
  const { clock, log, letters } = setUp({
    refuse: () => {
      seed = (seed * 1664525 + 1013904223) >>> 0
      return seed < 2 ** 31 ? refused(403) : undefined
    },
  })
  for (let n = 0; n < 1_000; n += 1) {
    log('good')
    await clock.advance(1_000)
  }
  expect(letters.length).toBeLessThanOrEqual(10)
})

test.each([401, 403, 400, 413])(
  'a process that ends while %i is the answer to everything makes few requests',
  async (status) => {
    for (const texts of [['good'], ['good', 'good', 'good']]) {
      const { clock, log, delivery, requests } = setUp({ refuse: () => refused(status) })
      log(...texts)
      const drained = delivery.drain(3_000)
      await clock.advance(5_000)
      await drained
      expect(requests()).toBeLessThanOrEqual(4)
    }
  },
)
