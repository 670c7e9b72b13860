/** Queries that are wrong, or probably meant to be another one. */
import { expect, test } from 'vitest'
import { findHint, readQuery } from '../../../src/cli/local/local-query.js'
import { CommandError } from '../../../src/cli/shared/command.js'
import { measureWidth } from '../../../src/cli/shared/terminal.js'

test.each([
  ['declined "u-42', '"u-42'],
  ['status:>=500 level:loud', 'loud'],
  ['x /(/', '/(/'],
  ['a OR', ''],
  ['注文 level:loud', 'loud'],
])('the wrong part of %s is marked', (query, wrong) => {
  const at = query.length - wrong.length
  try {
    expect(readQuery({ positionals: [query] })).toBe('refused')
  } catch (error) {
    const { exitCode, message, details } = error as CommandError
    expect([exitCode, message]).toEqual([2, expect.stringContaining(` ${at + 1}:`)])
    const [shown = '', marks = ''] = details
    expect(measureWidth(shown.slice(0, shown.length - wrong.length))).toBe(marks.indexOf('^'))
    expect(marks.trim()).toHaveLength(Math.max(1, wrong.length))
  }
})

test.each([
  ['statsu:500', 'status:500'],
  ['service:shp', 'service:shop'],
  ['orderid:1', 'orderId:1'],
  ['status:500', undefined],
])('a hint for %s: %s', async (query, corrected) => {
  const items = [{ name: 'metadata.orderId' }, { name: 'service', values: ['shop'] }]
  const hint = await findHint({ json: <T>() => Promise.resolve({ items } as T) }, query)
  expect(hint?.split(': ').at(-1)).toBe(corrected)
})
