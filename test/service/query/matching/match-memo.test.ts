/** The cache of outcomes: number of searches of a record for the same query. */
import { beforeEach, expect, it } from 'vitest'
import { compileEntryQuery } from '../../../../src/service/query/matching/compile-query.js'
import { MatchMemo } from '../../../../src/service/query/matching/match-memo.js'
import { createEntryMatcher } from '../../../../src/service/query/query-filters.js'
import { StoreReader } from '../../../../src/service/store-reader.js'
import { indexEntry } from '../../../../src/service/store/indexed-record.js'
import type { IndexedEntry } from '../../../../src/service/store/indexed-record.js'
import { openStore } from '../../store/open-store.js'
import { entryOf } from '../../support.js'

let seq = 0
let memo = new MatchMemo()
beforeEach(() => (memo = new MatchMemo()))

/** Creates an entry that counts the searches in its text. */
function createCounted(): { readonly entry: IndexedEntry; readonly searches: () => number } {
  const record = { id: 'e', seq: ++seq, received_at: '', batch_id: null, entry: entryOf({ message: 'needle' }) }
  const { search, ...others } = indexEntry(record)
  let count = 0
  const entry = {
    ...others,
    get search() {
      count++
      return search
    },
  }
  return { entry, searches: () => count }
}

it('caches separate outcomes for two records with the same seq', () => {
  const [one, other] = ['left', 'right'].map((message) =>
    indexEntry({ id: 'e', seq: 1, received_at: '', batch_id: null, entry: entryOf({ message }) }),
  )
  const matches = compileEntryQuery('left', memo)
  expect([one, other, one, other].map((entry) => matches(entry as IndexedEntry))).toEqual([true, false, true, false])
})

it('a query that is not repeated neither uses nor evicts cached outcomes', () => {
  const { entry, searches } = createCounted()
  compileEntryQuery('needle', memo)(entry)
  const words = Array.from({ length: 20 }, (_, n) => `-other${n}`).join(' ')
  expect(createEntryMatcher({ q: words }, undefined, Infinity)(entry)).toBe(true)
  expect(searches()).toBe(21)
  compileEntryQuery('needle', memo)(entry)
  expect(searches()).toBe(21)
})

it('exports and streams with many terms take no memory per term', () => {
  const reader = new StoreReader(openStore().store)
  const before = process.memoryUsage().arrayBuffers
  for (let at = 0; at < 8; at++) {
    const q = Array.from({ length: 50 }, (_, n) => `-export${at}n${n}`).join(' ')
    expect([...reader.export({ q })].join('')).toBe('')
    expect(reader.entriesAfter(0, { q }, 1).items).toEqual([])
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20)
})
