/**
 * Errors of database clients and others, created by the libraries themselves, in `library-errors.ndjson` as pino wrote them.
 * Values that must not be sent start with `secret-`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject, LogEntry } from '../../src/protocol/log-entry.js'
import { entryWith as entryOf } from './map-line.js'

const recorded = readFileSync(new URL('../fixtures/library-errors.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly name: string; readonly line: string })

function entryOfError(properties: object, message = 'm'): LogEntry {
  const err = { type: 'Error', message: 'm', stack: 'Error: m\n    at f (/app/a.js:1:2)', ...properties }
  return entryOf(JSON.stringify({ level: 50, time: 1795219732486, err, msg: message }))
}

const DUPLICATE = 'E11000 duplicate key error'
const REFUSED = /^connect ECONNREFUSED 127\.0\.0\.1:\d+; connect ECONNREFUSED 127\.0\.0\.2:\d+$/

const EXPECTED: Readonly<Record<string, { readonly error: object; readonly kept: JsonObject }>> = {
  'mysql2: duplicate key': {
    error: { type: 'Error', message: "Duplicate entry 'jane@example.com' for key 'users.email'" },
    kept: { code: 'ER_DUP_ENTRY', errno: 1062, sql: 'INSERT INTO users (email, password) VALUES (?, ?)' },
  },
  'mysql2: syntax error': { error: { type: 'Error' }, kept: { sql: 'SELECT * FORM users' } },
  'ioredis: wrong type': { error: { type: 'SimpleError' }, kept: { command: 'lpush' } },
  'ioredis: wrong password': { error: { type: 'SimpleError' }, kept: { command: 'AUTH' } },
  'mongodb: duplicate key': { error: { type: 'MongoServerError' }, kept: { code: 11000, keyPattern: { email: 1 } } },
  'mongodb: bulk write': {
    error: { type: 'MongoBulkWriteError', message: DUPLICATE },
    kept: { code: 11000, writeErrors: [{ code: 11000, index: 0, errmsg: 'E11000' }] },
  },
  'aws: not its reply': {
    error: { type: 'S3ServiceException', message: 'UnknownError' },
    kept: { $fault: 'server', $metadata: { httpStatusCode: 502 } },
  },
  'aws: aborted': { error: { type: 'AbortError', message: 'Request aborted' }, kept: {} },
  'undici: refused, all addresses': {
    error: { type: 'AggregateError', message: expect.stringMatching(REFUSED) },
    kept: { code: 'ECONNREFUSED' },
  },
}

test('each recorded line has a row', () => {
  expect(recorded.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXPECTED).toSorted())
})

test.each(recorded.map(({ name, line }) => [name, line] as const))('%s', (name, line) => {
  const { error, metadata } = entryOf(line)
  expect(JSON.stringify({ error, metadata })).not.toMatch(/secret-|"\d+":/)
  expect(error).toMatchObject(EXPECTED[name]?.error ?? {})
  expect(error?.stack).toMatch(/^\w+.*\n +at /)
  expect(metadata?.['error'] ?? {}).toMatchObject(EXPECTED[name]?.kept ?? {})
})

describe('the values of a statement', () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      'literals',
      { sql: String.raw`SELECT * FROM "t1" WHERE a = 'it''s' AND b='x\'y' AND c IN (1, 2.5) AND d1 = X'6162'` },
      { sql: 'SELECT * FROM "t1" WHERE a = ? AND b=? AND c IN (?, ?) AND d1 = X?' },
    ],
    ['a literal that was cut', { sql: "INSERT INTO t VALUES ('secret-pass" }, { sql: 'INSERT INTO t VALUES (?' }],
    [
      'TypeORM, Sequelize: parameters',
      { query: 'INSERT INTO t VALUES ($1)', parameters: ['secret-a'] },
      { query: 'INSERT INTO t VALUES ($1)', parameters: '[omitted]' },
    ],
    ['Drizzle', { query: 'select $1', params: ['secret-a'] }, { query: 'select $1', params: '[omitted]' }],
    [
      'MySQL: text in double quotes',
      { sql: 'INSERT "a" VALUES (0x41)', sqlState: '23000' },
      { sql: 'INSERT ? VALUES (?)', sqlState: '23000' },
    ],
    [
      'PostgreSQL: text in dollar quotes',
      { sql: `select $$SE'CRET$$, $a$ $$SECRET $b$ $a$, $1, $2 from "a$$b" where c = $_1$SECRET` },
      { sql: 'select ?, ?, $1, $2 from "a$$b" where c = ?' },
    ],
    [
      'SQLite: named parameters',
      { sql: 'select $a', parameters: { $a: 'secret-a' } },
      { sql: 'select $a', parameters: '[omitted]' },
    ],
    ['node_redis', { command: 'AUTH', args: ['secret-a'] }, { command: 'AUTH', args: '[omitted]' }],
    [
      'deeper in the error',
      { reply: { command: { name: 'auth', args: ['secret-a'] } } },
      { reply: { command: 'auth' } },
    ],
    ["an application's own members", { command: 'deploy', params: ['a'] }, { command: 'deploy', params: ['a'] }],
  ])('%s', (_, properties, kept) => {
    expect(entryOfError(properties).metadata?.['error']).toEqual(kept)
  })

  test('Drizzle: in message and stack', () => {
    const message = 'Failed query: select $1\nparams: secret-a,\nsecret-b'
    const stack = `Error: ${message}\n    at f (/a.js:1:2)`
    expect(entryOfError({ message, stack, query: 'select $1', params: ['secret-a'] }).error).toMatchObject({
      message: 'Failed query: select $1',
      stack: 'Error: Failed query: select $1\n    at f (/a.js:1:2)',
    })
  })

  test("in an error's cause", () => {
    const { metadata } = entryOfError({
      cause: { type: 'Error', message: 'c', stack: 'Error: c', sql: "SELECT 'secret-a'" },
    })
    expect(metadata?.['error']).toEqual({ cause: { type: 'Error', message: 'c', sql: 'SELECT ?' } })
  })

  test('changes nothing outside an error', () => {
    const line = JSON.stringify({
      level: 30,
      time: 1795219732486,
      sql: "SELECT 'a'",
      command: { name: 'c', args: [1] },
    })
    expect(entryOf(line).metadata).toEqual({ sql: "SELECT 'a'", command: { name: 'c', args: [1] } })
  })
})

test('a string assigned to an error, which makes each character a member', () => {
  const { error, metadata } = entryOfError({ ...Array.from('secret-'.repeat(1_000)), code: 'X' })
  expect(error).toMatchObject({ type: 'Error', message: 'm', stack: expect.stringContaining('Error: m\n') as string })
  expect(metadata?.['error'] ?? {}).toEqual({})
  expect(metadata?.['pino_ingest']).toMatchObject({ cut_keys: 6_001 })
})

test('characters omitted by ingestOptions() are not members', () => {
  const { metadata } = entryOfError({ ...Array.from('secret').map(() => '[omitted]'), code: 'X' })
  expect(metadata?.['error']).toEqual({ code: 'X' })
})

test('uses an assigned name as the type of an Error', () => {
  expect(entryOfError({ name: 'TimeoutError' })).toMatchObject({ error: { type: 'TimeoutError' } })
  expect(entryOfError({ type: 'PaymentError', name: 'Error' })).toMatchObject({
    error: { type: 'PaymentError' },
    metadata: { error: { name: 'Error' } },
  })
})

test('an entry without a message uses that of the error, and an error those of its aggregated errors', () => {
  const part = (message: string): object => ({ type: 'Error', message, stack: `Error: ${message}` })
  expect(entryOfError({ message: '', aggregateErrors: ['a', 'b', 'a'].map(part) }, '')).toMatchObject({
    message: 'a; b',
    error: { message: 'a; b' },
  })
  expect(entryOfError({}, '').message).toBe('m')
})

test('aggregated values that are not errors are data and not added to the stack', () => {
  const { error, metadata } = entryOfError({ aggregateErrors: [{ type: 'Object', message: 'too short', stack: '' }] })
  expect(error?.stack).toBe('Error: m\n    at f (/app/a.js:1:2)')
  expect(metadata?.['error']).toEqual({ aggregateErrors: [{ type: 'Object', message: 'too short', stack: '' }] })
})
