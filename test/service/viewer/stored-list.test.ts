/** Lists that several tabs share in the browser's storage. */
import { beforeEach, expect, test } from 'vitest'
import { StoredList } from '../../../src/service/viewer/stored-list.js'

let stored: string | null
let isFull: boolean

beforeEach(() => {
  stored = null
  isFull = false
})

const storage = {
  getItem: () => stored,
  setItem: (_key: string, text: string): void => {
    if (isFull) throw new Error('QuotaExceededError')
    stored = text
  },
}

function openTab(open: () => typeof storage = () => storage) {
  const list = new StoredList('key', (item) => (typeof item === 'string' ? item : undefined), open)
  return { list, add: (name: string): boolean => list.change((items) => [name, ...items]) }
}

test('a list that the browser does not store stays in the tab', () => {
  const one = openTab()
  one.add('a')
  isFull = true
  expect([one.add('b'), one.add('c')]).toEqual([false, false])
  one.list.read()
  expect(one.list.value).toEqual(['c', 'b', 'a'])
  isFull = false
  expect(one.add('d')).toBe(true)
  expect(openTab().list.value).toEqual(['d', 'c', 'b', 'a'])
})

test('works if the browser forbids storage', () => {
  const tab = openTab(() => {
    throw new Error('SecurityError')
  })
  expect([tab.add('a'), tab.add('b'), tab.list.value]).toEqual([false, false, ['b', 'a']])
})

test.each([[null], [''], ['{'], ['{}'], ['7']])('%s is an empty list', (text) => {
  stored = text
  expect(openTab().list.value).toEqual([])
})

test('items of another version of the page are ignored', () => {
  stored = '["a",{"name":1},null,"b"]'
  expect(openTab().list.value).toEqual(['a', 'b'])
})
