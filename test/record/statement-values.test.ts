/** Removes the values of a statement from errors of database clients. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/log-entry.js'
import { omitStatementValues } from '../../src/record/statement-values.js'

function omitted(error: JsonObject): JsonObject {
  omitStatementValues(error)
  return error
}

test("removes Drizzle's values from message and stack", () => {
  const message = 'Failed query: select $1\nparams: SECRET,\nSECRET'
  const stack = `Error: ${message}\n    at f (/a.js:1:2)`
  expect(omitted({ message, stack, query: 'select $1', params: ['SECRET'] })).toEqual({
    message: 'Failed query: select $1',
    stack: 'Error: Failed query: select $1\n    at f (/a.js:1:2)',
    query: 'select $1',
    params: '[omitted]',
  })
})

test('replaces literals, in double quotes only for MySQL', () => {
  const sql = `insert "a" values (0x41, x'41', 'b', 7)`
  expect(omitted({ sql })['sql']).toBe('insert "a" values (?, x?, ?, ?)')
  expect(omitted({ sql, sqlState: '23000' })['sql']).toBe('insert ? values (?, x?, ?, ?)')
})
