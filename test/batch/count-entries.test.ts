/** The number of entries in the serialized list of a batch. */
import { expect, test } from 'vitest'
import { countBatchEntries } from '../../src/batch/count-entries.js'
import { parseBatchEntries } from '../../src/batch/sub-batch.js'

const bodyOf = (list: string): Buffer => Buffer.from(`{"batch_id":"a-1","logs":${list}}`)

test.each([
  '[]',
  '[ ]',
  '[{}]',
  '[{},{}]',
  ' [ {"a":1} , {"b":[1,2,{"c":[]}]} ] ',
  '[{"a":"],{}[\\"},"},{"a":"\\\\"},{"b":"\\\\\\""},{"ü":"€"}]',
  '[1,"x",null,[{}],"a,b"]',
  '[,]',
  '[{},]',
])('%s', (list) => {
  const body = bodyOf(list)
  expect(countBatchEntries(body)).toBe(parseBatchEntries(body).length)
})

test.each(['[{}],"other":[1,2,3]}', '[{}]}}', '[{}]} x', '[{}]'])(
  'rejects a batch with more than entries: %s',
  (list) => {
    expect(countBatchEntries(Buffer.from(`{"batch_id":"a","logs":${list}`))).toBe(undefined)
  },
)

test.each(['[{"a":1}', '[{"a":"x', '{}', '[{"a":[1}'])('rejects the unterminated list %s', (list) => {
  expect(countBatchEntries(Buffer.from(`{"batch_id":"a","logs":${list}`))).toBe(undefined)
})
