/** The number of entries in the serialized list of a batch. */
import { expect, test } from 'vitest'
import { countBatchEntries } from '../../src/batch/count-entries.js'
import { parseBatchEntries } from '../../src/batch/sub-batch.js'

const bodyOf = (list: string): Buffer => Buffer.from(`{"batch_id":"a-1","logs":${list}}`)

test.each([
  '[]',
  '[ ]',
  '[{}]',
  ' [ {"a":1} , {"b":[1,2,{"c":[]}]} ] ',
  '[{"a":"],{}[\\"},"},{"a":"\\\\"},{"b":"\\\\\\""},{"ü":"€"}]',
  '[1,"x",null,[{}],"a,b"]',
  '[,]',
  '[ \t\r\n]',
  // Not white space in JSON.
  '[\u00a0]',
  '[{},\u2028]',
  '[\0,\f]',
  '[\u00a0{}\ufeff,\u2028 {}]',
])('%j', (list) => {
  const body = bodyOf(list)
  expect(countBatchEntries(body)).toBe(parseBatchEntries(body).length)
})

test.each(['[{}],"other":[1,2,3]}', '[{}]}}', '[{}]} x', '[{}]', '[{}]}\u00a0', '[{}]\f}'])(
  'rejects a batch with more than entries: %j',
  (list) => {
    expect(countBatchEntries(Buffer.from(`{"batch_id":"a","logs":${list}`))).toBe(undefined)
  },
)

test.each(['[{"a":1}', '[{"a":"x', '{}', '[{"a":[1}'])('rejects the unterminated list %s', (list) => {
  expect(countBatchEntries(Buffer.from(`{"batch_id":"a","logs":${list}`))).toBe(undefined)
})
