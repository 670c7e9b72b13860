/** Dead letters in the bucket. */
import { expect, test } from 'vitest'
import { formatUnstored, parseUnstored } from '../../src/forward/unstored-letters.js'

const BODY = Buffer.from('{"batch_id":"b","logs":[{"a":1},{"ü":1.0},{"a":3}]}')
const LETTER = { batchId: 'b', index: 1, status: 422, code: 'C', field: 'f', reason: 'größer\n', entry: '{"ü":1.0}' }

test('survive a round trip', () => {
  const letters = [LETTER, { ...LETTER, index: 2, entry: '{"a":3}' }]
  expect(parseUnstored(formatUnstored(letters), BODY)).toEqual(letters)
})

test('omit the entries, since the batch can be as large as a message', () => {
  const letters = [{ ...LETTER, entry: JSON.stringify({ message: 'x'.repeat(900_000) }) }]
  expect(formatUnstored(letters).length).toBeLessThan(1_000)
})

test('ignore an index that the batch does not have', () => {
  expect(parseUnstored(formatUnstored([{ ...LETTER, index: 3 }]), BODY)).toEqual([])
})

test.each(['', '1', 'null', '{', '[null,1,{"batchId":"x"}]', '{"batchId":"x"}'])('%s contains none', (text) => {
  expect(parseUnstored(text, BODY)).toEqual([])
})
