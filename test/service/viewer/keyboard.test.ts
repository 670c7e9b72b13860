/** The commands of keys, and where keys have none. */
import { expect, test } from 'vitest'
import { findCommand } from '../../../src/service/viewer/keyboard.js'
import type { KeyContext } from '../../../src/service/viewer/keyboard.js'

const press = (key: string, place: KeyContext = 'page', modifiers = {}) =>
  findCommand({ key, ctrlKey: false, metaKey: false, altKey: false, ...modifiers }, place)

test.each([
  ['j', 'next'],
  ['ArrowDown', 'next'],
  ['k', 'previous'],
  ['ArrowUp', 'previous'],
  ['Enter', 'open'],
  ['Escape', 'close'],
  ['/', 'search'],
  ['p', 'pause'],
  ['t', 'top'],
  ['?', 'help'],
  ['c', 'copy-json'],
  ['l', 'copy-address'],
  ['1', 'view-1'],
  ['7', 'view-7'],
])('%s: %s', (key, command) => {
  expect(press(key)).toBe(command)
})

test.each(['9', '0', 'J', 'u', 'x', ' ', 'Tab', 'constructor', 'toString'])('%s does nothing', (key) => {
  expect(press(key)).toBeUndefined()
})

test.each(['j', '/', 'Escape', '1', 'Enter', '?'])(
  '%s does nothing during typing, and with Ctrl, Meta or Alt',
  (key) => {
    expect(press(key, 'field')).toBeUndefined()
    for (const modifier of ['ctrlKey', 'metaKey', 'altKey'])
      expect(press(key, 'page', { [modifier]: true })).toBeUndefined()
  },
)

test.each(['Enter', 'ArrowDown', 'ArrowUp', 'Home'])('a focused control keeps %s', (key) => {
  expect([press(key, 'control'), press('j', 'control')]).toEqual([undefined, 'next'])
})
