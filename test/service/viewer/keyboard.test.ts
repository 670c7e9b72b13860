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
  ['1', 'view-1'],
  ['7', 'view-7'],
])('%s: %s', (key, command) => {
  expect(press(key)).toBe(command)
})

test.each(['9', '0', 'J', 'x', ' ', 'Tab', 'constructor', 'toString'])('%s does nothing', (key) => {
  expect(press(key)).toBeUndefined()
})

test.each(['j', '/', 'Escape', '1', 'Enter', '?'])('%s does nothing during typing', (key) => {
  expect(press(key, 'field')).toBeUndefined()
})

test.each(['ctrlKey', 'metaKey', 'altKey'])('with %s the browser handles the keys', (modifier) => {
  expect(['j', 'p', '/', '1', 'ArrowDown'].map((key) => press(key, 'page', { [modifier]: true }))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('a focused control keeps the keys that it needs itself', () => {
  expect(['Enter', 'ArrowDown', 'ArrowUp', 'Home'].map((key) => press(key, 'control'))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(press('j', 'control')).toBe('next')
})
