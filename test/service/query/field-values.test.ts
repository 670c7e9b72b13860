/** Values of fields without an index are counted in the newest 50,000 records; the reply has this number. */
import { expect, it } from 'vitest'
import { countValues } from '../../../src/service/query/field-values.js'
import { ENTRIES } from '../../../src/service/query/matching/field-readers.js'
import { indexEntry } from '../../../src/service/store/indexed-record.js'
import { entryOf } from '../support.js'

const index = (message: string) =>
  indexEntry({ id: message, seq: 1, received_at: '', batch_id: null, entry: entryOf({ message, service: message }) })
const [older, newer] = [index('older'), index('newer')]
const entries = [...Array.from({ length: 20 }, () => older), ...Array.from({ length: 50_000 }, () => newer)]

it('counts an indexed field in all records', () => {
  const { items, counted } = countValues(ENTRIES, entries, { field: 'service', limit: 10 })
  expect([items, counted]).toEqual([
    [
      { value: 'newer', count: 50_000 },
      { value: 'older', count: 20 },
    ],
    undefined,
  ])
})

it('counts another field in the newest 50,000 records', () => {
  const { items, counted } = countValues(ENTRIES, entries, { field: 'message', limit: 10 })
  expect([items, counted]).toEqual([[{ value: 'newer', count: 50_000 }], 50_000])
})
