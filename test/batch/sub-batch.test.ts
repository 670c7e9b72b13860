import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBatchBody, parseBatchEntries, createSubBatchId, createSubBatch } from '../../src/batch/sub-batch.js'
import type { Batch, BatchAcknowledgement } from '../../src/batch/batch.js'

const ID = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const UUID_V5 = /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('the id of a sub-batch', () => {
  test.each([
    // The name encodes the positions.
    [[0], '0'],
    [[0, 1, 2], '0-2'],
    [[0, 1, 3], '0-1,3'],
    [[7, 9, 10, 11, 50], '7,9-11,50'],
  ])('%j is the UUIDv5 of %s', async (positions, name) => {
    const { createHash } = await import('node:crypto')
    const digest = createHash('sha1')
      .update(Buffer.from(ID.replaceAll('-', ''), 'hex'))
      .update(name)
      .digest()
    const id = createSubBatchId(ID, positions)
    expect(id).toMatch(UUID_V5)
    expect(id.replaceAll('-', '').slice(0, 12)).toBe(digest.toString('hex').slice(0, 12))
  })

  test('matches RFC 9562 and its libraries', () => {
    expect(createSubBatchId(ID, [0, 1, 2, 4])).toBe('d1a9d410-5e23-5b67-90ed-5cb986f5b944')
  })

  test('is deterministic, and differs for other positions and other batches', () => {
    const positions = fc
      .uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1 })
      .map((list) => list.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(positions, positions, (a, b) => {
        expect(createSubBatchId(ID, a) === createSubBatchId(ID, b)).toBe(JSON.stringify(a) === JSON.stringify(b))
        expect(createSubBatchId(ID.toUpperCase(), a)).toBe(createSubBatchId(ID, a))
        expect(createSubBatchId('b0', a)).toMatch(UUID_V5)
        expect(createSubBatchId('b0', a)).not.toBe(createSubBatchId('b1', a))
      }),
    )
  })
})

describe('the entries of a body', () => {
  test.each([
    ['{"batch_id":"a","logs":[]}', []],
    ['{"batch_id":"a","logs":[{}]}', ['{}']],
    ['{"batch_id":"],[{\\"logs\\":[","logs":[{"a":1},{"b":[1,{"c":"],}"}]}]}', ['{"a":1}', '{"b":[1,{"c":"],}"}]}']],
    [
      '{"batch_id":"a","logs":[{"n":12345678901234567890123,"n":1.0,"s":"\\\\"},{"s":"\\\\\\""}]}',
      ['{"n":12345678901234567890123,"n":1.0,"s":"\\\\"}', '{"s":"\\\\\\""}'],
    ],
    ['{ "batch_id" : "a" , "logs" : [ {"a":1} , {"b":2} ] }', ['{"a":1}', '{"b":2}']],
  ])('%s', (body, entries) => {
    expect(parseBatchEntries(Buffer.from(body))).toEqual(entries)
  })

  test('are the original entries, for any JSON', () => {
    const entry = fc
      .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
      .map((one) => JSON.stringify(one))
    fc.assert(
      fc.property(fc.string(), fc.array(entry), (id, entries) => {
        expect(parseBatchEntries(createBatchBody(id, entries))).toEqual(entries)
        expect(JSON.parse(Buffer.from(createBatchBody(id, entries)).toString())).toMatchObject({ batch_id: id })
      }),
    )
  })

  test('are parsed without recursion when deeply nested or full of quotes', () => {
    const deep = `{"d":${'['.repeat(500_000)}${']'.repeat(500_000)}}`
    const quotes = JSON.stringify({ q: '\\"'.repeat(250_000) })
    expect(parseBatchEntries(createBatchBody('a', [deep, quotes])).map((entry) => entry.length)).toEqual([
      deep.length,
      quotes.length,
    ])
  })

  test('are parsed from a view into a larger buffer', () => {
    const body = Buffer.from(`xxxx${Buffer.from(createBatchBody('a', ['{"a":1}'])).toString()}yy`)
    expect(parseBatchEntries(body.subarray(4, -2))).toEqual(['{"a":1}'])
  })
})

describe('a part', () => {
  const entries = Array.from({ length: 10 }, (_, n) => `{"n":${n}}`)
  const noted: (readonly number[])[] = []
  const custody: BatchAcknowledgement = {
    createPart: (positions) => {
      noted.push(positions)
      return custody
    },
    acknowledge: () => {},
  }
  const batch: Batch = {
    batchId: ID,
    count: 10,
    highestSeverity: 3,
    body: createBatchBody(ID, entries),
    acknowledgement: custody,
  }

  test('is a batch of its own with the id and positions of its origin', () => {
    const part = createSubBatch(batch, [2, 3, 7], entries)
    expect(part).toMatchObject({
      batchId: createSubBatchId(ID, [2, 3, 7]),
      count: 3,
      highestSeverity: 3,
      origin: { batchId: ID, positions: [2, 3, 7] },
    })
    expect(parseBatchEntries(part.body)).toEqual(['{"n":2}', '{"n":3}', '{"n":7}'])
    expect(Buffer.from(part.body).toString()).toContain(`"batch_id":"${part.batchId}"`)
    expect(noted.at(-1)).toEqual([2, 3, 7])
  })

  test('of a sub-batch has the whole batch as its origin', () => {
    const part = createSubBatch(batch, [2, 3, 7], entries)
    const smaller = createSubBatch(part, [1, 2], parseBatchEntries(part.body))
    expect(smaller).toMatchObject({ batchId: createSubBatchId(ID, [3, 7]), origin: { batchId: ID, positions: [3, 7] } })
    expect(noted.at(-1)).toEqual([1, 2])
  })

  test('with all entries is the batch itself', () => {
    const before = noted.length
    expect(createSubBatch(batch, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], entries)).toBe(batch)
    expect(noted).toHaveLength(before)
  })

  test('of a batch without acknowledgement has none', () => {
    const { acknowledgement: _, ...bare } = batch
    expect(createSubBatch(bare, [1], entries)).not.toHaveProperty('acknowledgement')
  })
})
