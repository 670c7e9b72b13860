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

test('replaces literals in dollar quotes, but not parameters', () => {
  const sql = `select $$SE'CRET$$, $a$ $$SECRET $b$ $a$, $1, $2 from "a$$b" where c = $_1$SECRET`
  expect(omitted({ sql })['sql']).toBe('select ?, ?, $1, $2 from "a$$b" where c = ?')
})

test("removes named parameters and node_redis' arguments", () => {
  expect(omitted({ sql: 'select $a', parameters: { $a: 'SECRET' } })['parameters']).toBe('[omitted]')
  expect(omitted({ command: 'AUTH', args: ['SECRET'] })).toEqual({ command: 'AUTH', args: '[omitted]' })
  expect(omitted({ command: 'ls -l', args: ['-l'] })['args']).toEqual(['-l'])
  expect(omitted({ command: { name: 'auth', args: ['SECRET'] }, args: ['-l'] })).toEqual({
    command: 'auth',
    args: ['-l'],
  })
  const command = Object.assign(Object.create(null) as JsonObject, { a: 1 })
  expect(omitted({ command, args: ['-l'] })['args']).toEqual(['-l'])
  expect(omitted({ command: ['AUTH'], args: ['SECRET'] })['args']).toBe('[omitted]')
})
