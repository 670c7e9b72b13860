/** Saved queries of several tabs, which share the browser's storage. */
import { beforeEach, expect, test } from 'vitest'
import { SavedQueryStore } from '../../../../src/service/viewer/entries/saved-query-store.js'
import { NO_FILTER } from '../../../../src/service/viewer/view.js'

let stored: Map<string, string>
let isFull: boolean

beforeEach(() => {
  stored = new Map()
  isFull = false
})

const storage = {
  getItem: (key: string): string | null => stored.get(key) ?? null,
  setItem: (key: string, text: string): void => {
    if (isFull) throw new Error('QuotaExceededError')
    stored.set(key, text)
  },
}

function openTab(open: () => typeof storage = () => storage) {
  const store = new SavedQueryStore(open)
  return {
    store,
    save: (name: string): boolean => store.save(name, { ...NO_FILTER, q: name }),
    names: (): string[] => store.queries.value.map(({ name }) => name),
  }
}

test('a tab keeps what another tab has saved or deleted', () => {
  const [one, other] = [openTab(), openTab()]
  expect([one.save('a'), other.save('b'), one.save('c')]).toEqual([true, true, true])
  expect(openTab().names()).toEqual(['c', 'b', 'a'])
  other.store.delete('a')
  one.save('d')
  expect(openTab().names()).toEqual(['d', 'c', 'b'])
})

test('a tab shows queries of another tab once it reads', () => {
  const [one, other] = [openTab(), openTab()]
  other.save('a')
  expect(one.names()).toEqual([])
  one.store.read()
  expect(one.names()).toEqual(['a'])
})

test('a query of the same name is replaced', () => {
  const tab = openTab()
  for (const name of ['a', 'b', 'a']) tab.save(name)
  expect(openTab().names()).toEqual(['a', 'b'])
})

test('notifications are off until they are switched on, for all tabs, and stay on when the query is replaced', () => {
  const [one, other] = [openTab(), openTab()]
  for (const name of ['a', 'b']) one.save(name)
  one.store.setNotify('a', true)
  other.store.read()
  const notifying = () => other.store.queries.value.map(({ name, notify }) => [name, notify])
  expect(notifying()).toEqual([
    ['b', false],
    ['a', true],
  ])
  other.save('a')
  expect(notifying()[0]).toEqual(['a', true])
  other.store.setNotify('a', false)
  expect(openTab().store.queries.value.every(({ notify }) => !notify)).toBe(true)
})

test('a query that an earlier page has stored does not notify', () => {
  stored.set('pino-ingest.queries', '[{"name":"a","q":"x"},{"name":"b","q":"y","notify":"yes"}]')
  expect(openTab().store.queries.value.map(({ notify }) => notify)).toEqual([false, false])
})

test('queries that the browser does not store stay in the tab', () => {
  const one = openTab()
  one.save('a')
  isFull = true
  expect([one.save('b'), one.save('c')]).toEqual([false, false])
  one.store.read()
  expect(one.names()).toEqual(['c', 'b', 'a'])
  isFull = false
  expect(one.save('d')).toBe(true)
  expect(openTab().names()).toEqual(['d', 'c', 'b', 'a'])
})

test('works if the browser forbids storage', () => {
  const tab = openTab(() => {
    throw new Error('SecurityError')
  })
  expect([tab.save('a'), tab.save('b'), tab.names()]).toEqual([false, false, ['b', 'a']])
})
