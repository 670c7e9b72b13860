/** Payloads that something on the way refuses, through the queue and the sender chain: what they cost other entries. */
import { expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
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
const reset: Outcome = { kind: 'retryable', reason: 'socket hang up', mayConcernContent: true, mayBeStored: true }
const busy: Outcome = { kind: 'retryable', status: 503, reason: 'status 503', mayConcernContent: true }
/** The service stored the batch, but the gateway did not wait for its reply. */
const lateReply: Outcome = { kind: 'retryable', status: 504, reason: 'status 504', mayBeStored: true }

interface Setup {
  readonly maxConcurrency?: number
  /** Seed of the retry delays. Default: all are half of their maximum. */
  readonly seed?: number
  /** Milliseconds until the reply. Default 25. */
  readonly latencyMs?: (entries: readonly string[]) => number
  /** @returns the refusal of these entries; undefined to accept them */
  readonly refuse: (entries: readonly string[], request: number) => Outcome | undefined
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

function setUp({ maxConcurrency = 1, seed, latencyMs = () => 25, refuse }: Setup) {
  const random = seed === undefined ? () => 0.5 : seeded(seed)
  const clock = new FakeClock()
  const accepted = new Map<string, number>()
  /** Ids of the batches with which each entry was stored. */
  const storedIn = new Map<string, Set<string>>()
  const letters: string[] = []
  let requests = 0
  let batches = 0
  const sender = {
    send: async ({ body, batchId }: Batch): Promise<Outcome> => {
      requests += 1
      const entries = parseBatchEntries(body)
      const refusal = refuse(entries, requests)
      if (refusal === undefined) for (const entry of entries) accepted.set(entry, clock.now())
      if (refusal === undefined || refusal === lateReply)
        for (const entry of entries) storedIn.set(entry, (storedIn.get(entry) ?? new Set()).add(batchId))
      await new Promise<void>((resolve) => void clock.timer(latencyMs(entries), resolve))
      return refusal ?? { kind: 'delivered', accepted: entries.length, rejected: [] }
    },
  }
  const breaker = new CircuitBreaker({ clock, maxConcurrency, retry: { minMs: 250, maxMs: 30_000 }, random })
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
  return { clock, log, delivery, accepted, storedIn, good, letters, goodLetters, requests: () => requests }
}

type Services = ReturnType<typeof setUp>

/** Logs one good entry every `everyMs`, `count` times. @returns how many of them arrived */
async function logGood({ clock, log, good }: Services, count: number, everyMs = 1_000): Promise<number> {
  const before = good()
  for (let n = 0; n < count; n += 1) {
    log('good')
    await clock.advance(everyMs)
  }
  return good() - before
}

/** Refuses the entries with these words, the first of them first. */
const refusing =
  (outcomes: Readonly<Record<string, Outcome>>) =>
  (entries: readonly string[]): Outcome | undefined =>
    Object.entries(outcomes).find(([word]) => entries.some((entry) => entry.includes(word)))?.[1]

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

const REFUSED_AND_RESET = refusing({ resets: reset, refused: refused(403) })

test.each([1, 2, 3])(
  'a batch with a refused entry and one that resets the connection does not delay later entries (%i)',
  async (seed) => {
    const setup = setUp({ seed, latencyMs: () => 50, refuse: REFUSED_AND_RESET })
    await logGood(setup, 20)
    setup.log(...Array.from({ length: 20 }, (_, at) => (at === 3 ? 'refused' : at === 15 ? 'resets' : 'good')))
    expect(await logGood(setup, 1_200)).toBeGreaterThan(1_200 - 10)
    expect(setup.letters).toHaveLength(1)
  },
)

test.each([
  ['reset', reset],
  ['504', lateReply],
])('a batch a minute fails forever (%s): later entries arrive', async (_, outcome) => {
  const setup = setUp({ maxConcurrency: 8, seed: 3, refuse: refusingBad(outcome) })
  for (let minute = 0; minute < 40; minute += 1) {
    setup.log('good', 'bad', 'good')
    expect(await logGood(setup, 20, 3_000)).toBeGreaterThanOrEqual(20 - 1)
  }
})

test.each([
  [1, 37, 6_000],
  [2, 70, 30_000],
])(
  'concurrency %i: batch %i of 200 resets the connection while all others are refused, and is not the only probe',
  async (maxConcurrency, at, refusedMs) => {
    for (const seed of [at, 122]) {
      let isRefusing = false
      const refuse = refusingBad(reset)
      const setup = setUp({ maxConcurrency, seed, refuse: (entries) => (isRefusing ? refused(403) : refuse(entries)) })
      await logGood(setup, 10)
      isRefusing = true
      for (let n = 1; n <= 200; n += 1) setup.log(n === at ? 'bad' : 'good')
      await setup.clock.advance(refusedMs)
      isRefusing = false
      expect(await logGood(setup, 300, 2_000)).toBeGreaterThan(300)
    }
  },
)

test.each([2, 5])(
  '%i batches that reset the connection, and nothing else: their other entries arrive',
  async (count) => {
    const { clock, log, good } = setUp({ refuse: refusingBad(reset) })
    log('good')
    await clock.advance(1_000)
    for (let n = 0; n < count; n += 1) log(...Array.from({ length: 50 }, (_, at) => (at === 20 ? 'bad' : 'good')))
    await clock.advance(3_600_000)
    expect(good()).toBe(1 + count * 49)
  },
)

test('an acceptance after the rejections of later batches ends their pause', async () => {
  const setup = setUp({
    maxConcurrency: 32,
    latencyMs: (entries) => (entries.some((entry) => entry.includes('slow')) ? 200 : 25),
    refuse: refusingBad(refused(403)),
  })
  for (let n = 0; n < 60; n += 1) {
    for (let one = 0; one < 20; one += 1) setup.log('good')
    await setup.clock.advance(25)
  }
  await setup.clock.advance(1_000)
  setup.log('slow good')
  for (let n = 0; n < 8; n += 1) setup.log('bad')
  await setup.clock.advance(300)
  expect(await logGood(setup, 10)).toBe(10)
})

test.each<[string, Outcome[]]>([
  ['one refusal', [refused(404)]],
  ['several, alone', [refused(403), refused(403), refused(403)]],
  ['resets', [reset, reset, reset, reset, reset, reset]],
  ['a service that is busy', [busy, busy, busy, busy, busy, busy]],
  ['a limit of the size', [refused(413)]],
])('a batch that may be stored is not sent in parts after %s', async (_, outcomes) => {
  const replies = [lateReply, ...outcomes]
  const setup = setUp({
    refuse: (entries) => (entries.some((entry) => entry.includes('subject')) ? replies.shift() : undefined),
  })
  setup.log('good')
  await setup.clock.advance(1_000)
  setup.log(...Array.from({ length: 20 }, () => 'good subject'))
  await setup.clock.advance(600_000)
  expect(setup.good()).toBe(21)
  expect(Math.max(...[...setup.storedIn.values()].map(({ size }) => size))).toBe(1)
})

test('a part whose request always waits in vain does not stop the search of other batches', async () => {
  const setup = setUp({ refuse: refusing({ refused: refused(403), waits: lateReply }) })
  await logGood(setup, 10)
  setup.log('good', 'refused', 'good', 'waits')
  await setup.clock.advance(2_000)
  for (let n = 0; n < 5; n += 1) setup.log(...Array.from({ length: 10 }, (_, at) => (at === n ? 'refused' : 'good B')))
  await logGood(setup, 600)
  expect([...setup.accepted.keys()].filter((entry) => entry.includes('good B'))).toHaveLength(45)
})

test('a part that left the search is no proof that the other part has a bad entry', async () => {
  const script = [busy, busy, busy, refused(400), refused(400), refused(400), refused(400)]
  const refuse = refusingBad(refused(403))
  let requests = 0
  const setup = setUp({
    refuse: (entries) => {
      if (entries.some((entry) => entry.includes('subject'))) requests += 1
      // From the request for the bad entry alone.
      return (requests < 6 ? undefined : script.shift()) ?? refuse(entries)
    },
  })
  await logGood(setup, 1)
  setup.log(...Array.from({ length: 6 }, (_, at) => (at === 4 ? 'subject bad' : 'subject good')))
  await logGood(setup, 120, 2_000)
  expect(script).toEqual([])
  expect(setup.letters).toEqual([expect.stringContaining('subject bad')])
  expect(setup.good()).toBe(1 + 5 + 120)
})

test.each([0.2, 0.3])(
  'a share of %f of all requests is refused at random: no entry becomes a dead letter',
  async (share) => {
    const random = seeded(7)
    const setup = setUp({ seed: 1, refuse: () => (random() < share ? refused(403) : undefined) })
    await logGood(setup, 1_440, 60_000)
    expect(setup.letters).toEqual([])
  },
)

test('the process ends: a batch is tried although earlier ones fail', async () => {
  const { clock, log, delivery, accepted } = setUp({ refuse: refusingBad(reset) })
  log('good')
  await clock.advance(1_000)
  log('good', 'good', 'bad', 'good', 'good')
  log('bad')
  await clock.advance(3_600)
  log('good last')
  const drained = delivery.drain(3_000)
  await clock.advance(5_000)
  await drained
  expect([...accepted.keys()].filter((entry) => entry.includes('last'))).toHaveLength(1)
})
