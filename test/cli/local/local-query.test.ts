/** Flags and a query as the text of one query. */
import { expect, test } from 'vitest'
import { compileQuery, findHint } from '../../../src/cli/local/local-query.js'
import { CommandError } from '../../../src/cli/shared/command.js'

function compile(search: string, flags: Readonly<Record<string, string>> = {}): string {
  return compileQuery({ texts: new Map(Object.entries(flags)) }, search)
}

test.each([
  ['', {}, ''],
  ['a OR b', {}, 'a OR b'],
  ['', { level: 'error,fatal' }, 'level:(error,fatal)'],
  ['a OR b', { level: 'error', service: 'my shop*' }, 'level:(error) service:"my shop*" (a OR b)'],
])('the query %j with %j', (search, flags, query) => expect(compile(search, flags)).toBe(query))

test.each([
  ['declined "u-42', '"u-42'],
  ['status:>=500 level:loud', 'loud'],
  ['x /(/', '/(/'],
  ['a OR', ''],
])('the wrong part of %s is marked', (query, wrong) => {
  const at = query.length - wrong.length
  try {
    expect(compile(query)).toBe('refused')
  } catch (error) {
    const { exitCode, message, details } = error as CommandError
    expect([exitCode, message]).toEqual([2, expect.stringContaining(` ${at + 1}:`)])
    const [shown = '', marks = ''] = details
    expect(shown.slice(marks.indexOf('^'))).toBe(wrong)
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
