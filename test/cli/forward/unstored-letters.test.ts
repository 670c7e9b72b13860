/** Rejected entries in the bucket. */
import { expect, test } from 'vitest'
import { formatUnstored, parseUnstored } from '../../../src/cli/forward/unstored-letters.js'

const BODY = Buffer.from('{"batch_id":"b","logs":[{"a":1},{"ü":1.0},{"a":3}]}')
const LETTER = { batchId: 'b', index: 1, status: 422, code: 'C', field: 'f', reason: 'größer\n', entry: '{"ü":1.0}' }

test('they are read as they were written', () => {
  const letters = [LETTER, { ...LETTER, index: 2, entry: '{"a":3}' }]
  expect(parseUnstored(formatUnstored(letters), BODY)).toEqual(letters)
})

test('they take little room: the batch may be as large as a message can be', () => {
  const letters = [{ ...LETTER, entry: JSON.stringify({ message: 'x'.repeat(900_000) }) }]
  expect(formatUnstored(letters).length).toBeLessThan(1_000)
})

test('an entry that the batch does not have is none', () => {
  expect(parseUnstored(formatUnstored([{ ...LETTER, index: 3 }]), BODY)).toEqual([])
})

test.each(['', '1', 'null', '{', '[null,1,{"batchId":"x"}]', '{"batchId":"x"}'])('%s are none', (text) => {
  expect(parseUnstored(text, BODY)).toEqual([])
})
