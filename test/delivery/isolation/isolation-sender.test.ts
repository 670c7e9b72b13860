import { describe, expect, test } from 'vitest'
import { createSubBatchId } from '../../../src/batch/sub-batch.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { batchFrom, batchWith, busy, isBadEntry, judging, messages, nameless, setUpIsolation } from './bad-entries.js'

const ID = '6ba7b810-9dad-41d1-80b4-00c04fd430c8'
const error = (index: number) => ({ index, code: 'VALIDATION_ERROR', field: 'level', message: `bad ${index}` })
/** Sends other entries until the batch is settled. @returns their number */
async function sendUntilSettled(
  { clock, send, outcomes }: ReturnType<typeof setUpIsolation>,
  id: string,
): Promise<number> {
  let others = 0
  for (; !outcomes.has(id) && others < 200; others += 1) {
    send(batchFrom(`other${others}`, 1))
    await clock.advance(1_000)
  }
  return others
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)

describe('a reply that settles the batch', () => {
  test('accepted: one request with the unchanged batch, which is settled completely', async () => {
    const { clock, send, requests, outcomes, ledger, letters } = setUpIsolation()
    const batch = batchFrom(ID, 10)
    send(batch)
    await clock.advance(100)
    expect(outcomes.get(ID)).toEqual({ kind: 'delivered', accepted: 10, rejected: [] })
    expect(requests).toHaveLength(1)
    expect(requests[0]?.batch.body).toBe(batch.body)
    expect([ledger.settled.length, ledger.parts, letters]).toEqual([10, [], []])
  })

  test("partly accepted: the rejected entries become dead letters with the service's reason", async () => {
    const { clock, send, outcomes, letters, ledger } = setUpIsolation(() => ({
      kind: 'delivered',
      accepted: 8,
      status: 422,
      rejected: [error(3), { ...error(3), field: 'message' }, error(5)],
    }))
    send(batchFrom(ID, 10))
    await clock.advance(100)
    expect(outcomes.get(ID)).toMatchObject({ kind: 'delivered', accepted: 8, rejected: [error(3), error(5)] })
    expect(letters).toEqual(
      [3, 5].map((index) => ({
        batchId: ID,
        index,
        status: 422,
        code: 'VALIDATION_ERROR',
        field: 'level',
        reason: `bad ${index}`,
        entry: `{"message":"${ID} ${index}"}`,
      })),
    )
    expect(ledger.settled).toHaveLength(10)
  })

  test('fewer names than rejected entries: all are counted, only the named ones become dead letters', async () => {
    const { clock, send, outcomes, letters } = setUpIsolation(() => ({
      kind: 'delivered',
      accepted: 7,
      status: 200,
      rejected: [error(3)],
    }))
    send(batchFrom(ID, 10))
    await clock.advance(100)
    const outcome = outcomes.get(ID)
    expect(outcome).toMatchObject({ kind: 'delivered', accepted: 7 })
    expect(letters.map(({ index }) => index)).toEqual([3])
  })

  test('none accepted: all become dead letters, also those that the reply does not name', async () => {
    const { clock, send, outcomes, letters, ledger } = setUpIsolation(() => ({
      kind: 'delivered',
      accepted: 0,
      rejected: [error(1)],
    }))
    send(batchFrom(ID, 3))
    await clock.advance(100)
    expect(outcomes.get(ID)).toMatchObject({ kind: 'delivered', accepted: 0, rejected: [{}, {}, {}] })
    expect(new Map(letters.map(({ index, reason }) => [index, reason]))).toEqual(
      new Map([
        [1, 'bad 1'],
        [0, expect.stringContaining('did not say why')],
        [2, expect.stringContaining('did not say why')],
      ]),
    )
    expect([letters.length, ledger.settled.length]).toEqual([3, 3])
  })

  test('unreadable: counts as accepted', async () => {
    const { clock, send, outcomes } = setUpIsolation((entries) => ({
      kind: 'delivered',
      accepted: entries.length,
      rejected: [],
      unreadable: true,
    }))
    send(batchFrom(ID, 4))
    await clock.advance(100)
    expect(outcomes.get(ID)).toEqual({ kind: 'delivered', accepted: 4, rejected: [], unreadable: true })
  })
})

describe('a rejection that names entries', () => {
  test('moves them to the dead letters and sends the rest as a sub-batch, until everything is settled', async () => {
    // Names only the first bad entry, as some services do.
    const service = (entries: readonly string[]): Outcome => {
      const first = entries.findIndex(isBadEntry)
      return first === -1 ? judging(entries) : { ...nameless(422), rejected: [error(first)] }
    }
    const { clock, send, requests, outcomes, letters, ledger, accepted } = setUpIsolation(service)
    send(batchFrom(ID, 10, [2, 7]))
    await clock.advance(1000)
    expect(requests.map(({ entries }) => entries.length)).toEqual([10, 9, 8])
    expect(requests.map(({ batch }) => batch.batchId)).toEqual([
      ID,
      createSubBatchId(ID, [0, 1, 3, 4, 5, 6, 7, 8, 9]),
      createSubBatchId(ID, [0, 1, 3, 4, 5, 6, 8, 9]),
    ])
    expect(letters.map(({ index, status, reason }) => [index, status, reason])).toEqual([
      [2, 422, 'bad 2'],
      [7, 422, 'bad 6'],
    ])
    expect(outcomes.get(ID)).toMatchObject({ kind: 'delivered', accepted: 8, rejected: [{ index: 2 }, { index: 7 }] })
    expect([accepted.length, new Set(ledger.settled).size, ledger.settled.length]).toEqual([8, 10, 10])
  })

  test('of the whole batch: nothing is sent again', async () => {
    const { clock, send, requests, outcomes } = setUpIsolation((entries) => ({
      ...nameless(422),
      rejected: entries.map((_, at) => error(at)),
    }))
    send(batchFrom(ID, 3))
    await clock.advance(100_000)
    expect(requests).toHaveLength(1)
    expect(outcomes.get(ID)).toMatchObject({
      kind: 'delivered',
      accepted: 0,
      rejected: [{ index: 0 }, { index: 1 }, { index: 2 }],
    })
  })
})

describe('a rejection that names nothing', () => {
  const cases: [string, number, number[]][] = [
    ['the first', 100, [0]],
    ['one in the middle', 100, [42]],
    ['the last', 100, [99]],
    ['two apart', 100, [3, 77]],
    ['two adjacent', 100, [49, 50]],
    ['forty in a row', 100, range(30, 70)],
    ['the first forty', 100, range(0, 40)],
    ['one of two', 2, [1]],
    ['one of three', 3, [0]],
  ]
  test.each(cases)('%s', async (_, count, bad) => {
    const setup = setUpIsolation()
    const { clock, send, requests, outcomes, letters, accepted, ledger, events } = setup
    send(batchFrom('earlier', 1))
    await clock.advance(100)
    send(batchFrom(ID, count, bad))
    await clock.advance(20_000)
    const others = 1 + (await sendUntilSettled(setup, ID))
    expect(letters.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(bad)
    expect(
      letters.every(
        ({ batchId, index, entry, status }) =>
          batchId === ID && status === 400 && entry.includes(`poison ${ID} ${index}"`),
      ),
    ).toBe(true)
    expect(accepted).toHaveLength(count - bad.length + others)
    expect(new Set(accepted).size).toBe(accepted.length)
    expect(outcomes.get(ID)).toMatchObject({ kind: 'delivered', accepted: count - bad.length })
    expect(ledger.settled.toSorted()).toEqual([...accepted, ...letters.map(({ entry }) => entry)].toSorted())
    expect(events).toHaveLength(bad.length)
    process.stdout.write(
      `${bad.length} bad of ${count}: ${requests.length - others} requests, ${others - 1} other batches\n`,
    )
    expect(requests.length - others).toBeLessThan(bad.length === 1 ? 20 : 2 * count + 15)
    // Only adjacent entries need other batches as proof.
    expect(others - 1).toBeLessThan(bad.length > 2 ? bad.length : 1)
  })

  test('settles accepted entries before it sends the next sub-batch', async () => {
    const seen: number[] = []
    const setup = setUpIsolation(
      (entries) => {
        seen.push(setup.ledger.settled.length - setup.accepted.length - setup.letters.length)
        return judging(entries)
      },
      { latencyMs: 0 },
    )
    setup.send(batchFrom(ID, 100, [42]))
    await setup.clock.advance(10_000)
    expect(seen.every((behind) => behind === 0)).toBe(true)
  })

  test('keeps big integers and duplicate keys unchanged', async () => {
    const { clock, sender, requests, abort } = setUpIsolation()
    const odd = '{"message":"odd","n":12345678901234567890,"n":1.0,"s":"},{\\"]"}'
    const bad = '{"message":"poison"}'
    const body = Buffer.from(`{"batch_id":"${ID}","logs":[${odd},${bad}]}`)
    void sender.send({ batchId: ID, count: 2, highestSeverity: 1, body }, abort.signal)
    await clock.advance(10_000)
    expect(requests.map(({ entries }) => entries)).toContainEqual([odd])
  })
})

describe('without any accepted batch', () => {
  test('a gateway that rejects everything: no dead letters, the circuit opens, one entry per minute is the probe', async () => {
    const { clock, send, requests, letters, failures, breaker } = setUpIsolation(() => nameless())
    send(batchFrom(ID, 100))
    await clock.advance(10_000)
    const searched = requests.length
    process.stdout.write(`a search without a result: ${searched} requests\n`)
    expect(searched).toBeLessThanOrEqual(3)
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatchObject([{ kind: 'endpoint-rejected', status: 400 }, 0, 60_000, false])
    expect(breaker.failures.lastFailure).toContain('status 400')
    await clock.advance(60_000)
    expect(requests.slice(searched).map(({ entries }) => entries.length)).toEqual([1])
    await clock.advance(600_000)
    expect(requests).toHaveLength(searched + 11)
    expect(letters).toEqual([])
  })

  test('a rejection is not a success: the limit does not grow, and the outage continues', async () => {
    let reply: Outcome = busy()
    const { clock, send, recoveries, breaker } = setUpIsolation(() => reply, { maxConcurrency: 4 })
    send(...range(0, 4).map((n) => batchFrom(`b${n}`, 3)))
    await clock.advance(10_000)
    reply = nameless()
    await clock.advance(300_000)
    expect(recoveries).toEqual([])
    expect(breaker.failures.outageAgeMs).toBeGreaterThan(300_000)
    reply = { kind: 'delivered', accepted: 3, rejected: [] }
    await clock.advance(100_000)
    expect(recoveries).toHaveLength(1)
  })

  test.each([10, 100])('delivers everything after the gateway is repaired (%i entries per batch)', async (count) => {
    const mendedAt = 200_000
    const setup = setUpIsolation((entries) => (setup.clock.now() < mendedAt ? nameless() : judging(entries)))
    const { clock, send, accepted, letters, outcomes } = setup
    send(...range(0, 8).map((n) => batchFrom(`b${n}`, count, n === 3 ? [1, 5] : [])))
    await clock.advance(mendedAt)
    expect(letters).toEqual([])
    await clock.advance(200_000)
    expect(letters.map(({ batchId, index }) => [batchId, index])).toEqual([
      ['b3', 1],
      ['b3', 5],
    ])
    expect([new Set(accepted).size, accepted.length]).toEqual([8 * count - 2, 8 * count - 2])
    expect(outcomes.size).toBe(8)
  })

  test.each(range(1, 16))('repaired after %i rejections during a search: no dead letters', async (refusals) => {
    const setup = setUpIsolation((entries) => (setup.requests.length <= refusals ? nameless() : judging(entries)))
    setup.send(batchFrom(ID, 100))
    // After three requests, one per minute.
    await setup.clock.advance(60_000 * refusals)
    expect(setup.letters).toEqual([])
    expect([setup.accepted.length, new Set(setup.accepted).size]).toEqual([100, 100])
  })

  test('batches alternate as probes: a completely bad batch does not block the others', async () => {
    const setup = setUpIsolation(judging, { maxConcurrency: 1 })
    const { clock, send, outcomes, letters, requests } = setup
    send(batchFrom('bad', 100, range(0, 100)))
    await clock.advance(1000)
    expect(requests.length).toBeLessThanOrEqual(15)
    send(batchFrom('good', 100))
    await clock.advance(121_000)
    expect(outcomes.get('good')).toMatchObject({ kind: 'delivered', accepted: 100 })
    await sendUntilSettled(setup, 'bad')
    expect(letters).toHaveLength(100)
  })

  test('the endpoint counts as recovered even if each batch has a bad entry', async () => {
    const setup = setUpIsolation((entries) => (setup.clock.now() < 100_000 ? nameless() : judging(entries)))
    setup.send(...range(0, 4).map((n) => batchFrom(`b${n}`, 50, [n * 7])))
    await setup.clock.advance(600_000)
    expect(setup.outcomes.size).toBe(4)
    expect(setup.letters.map(({ batchId, index }) => `${batchId} ${index}`).toSorted()).toEqual([
      'b0 0',
      'b1 7',
      'b2 14',
      'b3 21',
    ])
  })

  test('32 in flight, 200 waiting, a gateway rejects everything for 60 s', async () => {
    const setup = setUpIsolation((entries) => (setup.clock.now() < 60_000 ? nameless() : judging(entries)), {
      maxConcurrency: 32,
    })
    const { clock, send, breaker, requests, letters, accepted, outcomes } = setup
    const waiting = range(0, 232).map((n) => batchFrom(`b${n}`, 100))
    let started = 0
    // Like Delivery: no more batches in flight than the breaker's limit.
    const feed = (): void => {
      while (waiting.length > 0 && started - outcomes.size < breaker.limit) {
        started += 1
        send(waiting.shift() as ReturnType<typeof batchFrom>)
      }
    }
    breaker.onCapacity(feed)
    for (let ms = 0; ms < 60_000; ms += 50) {
      feed()
      await clock.advance(50)
    }
    const during = requests.filter(({ at }) => at < 60_000).length
    process.stdout.write(`400 to all for 60 s, 32 in flight: ${during} requests\n`)
    expect(during).toBeLessThan(80)
    for (let ms = 0; ms < 70_000; ms += 50) {
      feed()
      await clock.advance(50)
    }
    expect(letters).toEqual([])
    expect([accepted.length, new Set(accepted).size]).toEqual([23_200, 23_200])
    process.stdout.write(`... and ${requests.length - during} requests for 232 batches after it\n`)
    expect(requests.length - during).toBeLessThan(232 + 33)
  })
})

describe('a single entry', () => {
  test('is retried after the next accepted batch, and becomes a dead letter after another one', async () => {
    const { clock, send, requests, letters, outcomes, failures } = setUpIsolation()
    for (const id of ['before', 'bad', 'good', 'after'] as const) {
      expect(letters).toEqual([])
      send(batchFrom(id, 1, id === 'bad' ? [0] : []))
      await clock.advance(30_000)
    }
    const order = ['before 0', 'poison bad 0', 'good 0', 'poison bad 0', 'poison bad 0', 'after 0']
    expect(messages(requests.flatMap(({ entries }) => entries))).toEqual(order)
    expect(failures).toEqual([])
    expect(letters).toMatchObject([{ batchId: 'bad', index: 0, status: 400, reason: 'status 400: bad request' }])
    expect(outcomes.get('bad')).toEqual({
      kind: 'delivered',
      accepted: 0,
      rejected: [{ index: 0, code: '', field: '', message: 'status 400: bad request' }],
    })
  })

  test('a request that started before the rejection is no proof', async () => {
    const { clock, send, requests, letters } = setUpIsolation(judging, { latencyMs: 25 })
    send(batchFrom('bad', 1, [0]), batchFrom('good', 1))
    await clock.advance(30_000)
    expect([requests.length, letters.length]).toEqual([2, 0])
  })

  test('is probed once per minute without other batches', async () => {
    const { clock, send, requests, letters, failures } = setUpIsolation()
    send(batchFrom('bad', 1, [0]))
    await clock.advance(301_000)
    expect(requests.map(({ at }) => Math.floor(at / 1000))).toEqual([0, 120, 180, 240, 300])
    expect([letters.length, failures.length]).toEqual([0, 5])
  })
})

describe('413', () => {
  const limited =
    (maxBytes: number) =>
    (entries: readonly string[]): Outcome =>
      entries.join(',').length > maxBytes
        ? { ...nameless(413), rejected: [error(0)] }
        : { kind: 'delivered', accepted: entries.length, rejected: [] }

  test('halves the batch even if the body names entries', async () => {
    const { clock, send, outcomes, requests, letters } = setUpIsolation(limited(1000))
    send(batchFrom(ID, 100))
    await clock.advance(10_000)
    expect(outcomes.get(ID)).toMatchObject({ kind: 'delivered', accepted: 100 })
    expect([letters.length, requests.length]).toEqual([0, 16])
  })

  test('shortens a single entry, marks it, and sends it under a new batch_id', async () => {
    const { clock, send, outcomes, requests } = setUpIsolation(limited(2_000))
    send(batchWith(ID, [{ level: 'info', message: 'x'.repeat(9_000), timestamp: '2025-01-01T00:00:00.000Z' }]))
    await clock.advance(10_000)
    expect(outcomes.get(ID)).toMatchObject({ kind: 'delivered', accepted: 1 })
    const last = requests.at(-1)
    expect(last?.entries[0]).toContain('shortened_from_bytes')
    const ids = requests.map(({ batch }) => batch.batchId)
    expect(ids[1]).toBe(createSubBatchId(ID, [0]))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('dead-letters an entry rejected even at 1 KiB, if proven, in full length', async () => {
    const big = { level: 'info', message: `big ${'x'.repeat(9_000)}`, timestamp: '2025-01-01T00:00:00.000Z' }
    const service = (entries: readonly string[]): Outcome =>
      entries.some((entry) => entry.includes('big')) ? nameless(413) : judging(entries)
    const { clock, send, letters, outcomes, accepted, requests } = setUpIsolation(service)
    send(batchWith(ID, [big, { message: 'small' }]))
    await clock.advance(10_000)
    for (const other of ['one', 'another']) {
      expect(letters).toEqual([])
      send(batchFrom(other, 1))
      await clock.advance(10_000)
    }
    expect(letters).toMatchObject([{ index: 0, status: 413, entry: JSON.stringify(big) }])
    expect([accepted.length, outcomes.get(ID)?.kind]).toEqual([3, 'delivered'])
    expect(requests.length).toBeLessThan(16)
  })

  test('for every request dead-letters nothing', async () => {
    const { clock, send, letters, requests } = setUpIsolation(() => nameless(413))
    send(batchFrom(ID, 100))
    await clock.advance(600_000)
    expect(letters).toEqual([])
    expect(requests.length).toBeLessThan(30)
  })
})

describe('the end', () => {
  test('an abort during the search: abandoned, with the count of accepted entries', async () => {
    const setup = setUpIsolation((entries) => (setup.requests.length > 4 ? busy() : judging(entries)))
    const { clock, send, abort, outcomes, ledger, accepted } = setup
    send(batchFrom(ID, 100, [60]))
    await clock.advance(2_000)
    abort.abort()
    await clock.advance(1_000)
    const outcome = outcomes.get(ID)
    expect(outcome).toMatchObject({ kind: 'abandoned', reason: '503 down', accepted: accepted.length, rejected: [] })
    expect(accepted.length).toBeGreaterThan(0)
    expect(ledger.settled).toHaveLength(accepted.length)
  })

  test.each([1, 10])('a shutdown abandons waiting batches and searches at once (%i entries)', async (count) => {
    const { clock, send, breaker, outcomes, letters } = setUpIsolation(() => nameless())
    send(batchFrom('a', count), batchFrom('b', count))
    await clock.advance(5_000)
    breaker.startShutdown(clock.now() + 3_000)
    await clock.advance(1_000)
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['abandoned', 'abandoned'])
    expect([letters.length, clock.timers]).toEqual([0, 0])
  })

  // The other batches are all that is left to prove it.
  test.each([0, 1, 2])('a single bad entry among the last batches is found (after %i others)', async (before) => {
    const { clock, send, breaker, outcomes, letters } = setUpIsolation(undefined, { maxConcurrency: 1 })
    const others = range(0, 6).map((index) => batchFrom(`good${index}`, index % 2 === 0 ? 1 : 50))
    send(...others.slice(0, before), batchFrom('bad', 1, [0]), ...others.slice(before))
    breaker.startShutdown(clock.now() + 3_000)
    await clock.advance(3_000)
    expect(letters).toMatchObject([{ batchId: 'bad', index: 0 }])
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(Array(7).fill('delivered'))
  })

  test('a sender or a deadLetter() that throws abandons the batch', async () => {
    const { breaker, abort } = setUpIsolation()
    const { createIsolationSender } = await import('../../../src/delivery/isolation/isolation-sender.js')
    const broken = createIsolationSender({ inner: { send: () => Promise.reject(new Error('bug')) }, breaker })
    expect(await broken.send(batchFrom(ID, 3), abort.signal)).toEqual({
      kind: 'abandoned',
      reason: 'Error: bug',
      accepted: 0,
      rejected: [],
    })
    const inner = {
      send: (): Promise<Outcome> =>
        Promise.resolve({ kind: 'delivered', accepted: 2, status: 200, rejected: [error(1)] }),
    }
    const full = createIsolationSender({
      inner,
      breaker,
      deadLetter: () => {
        throw new Error('disk full')
      },
    })
    expect(await full.send(batchFrom(ID, 3), abort.signal)).toMatchObject({
      kind: 'abandoned',
      reason: 'Error: disk full',
      accepted: 0,
    })
  })
})
