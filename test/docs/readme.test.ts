/** The README stays short. */
import { expect, test } from 'vitest'
import { readText } from '../markdown.js'

test('the README has at most 150 lines', () => {
  expect(readText('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
})
