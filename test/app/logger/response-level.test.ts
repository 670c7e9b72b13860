/** The level that `ingestOptions()` returns to pino-http, whose versions call it with different arguments. */
import { describe, expect, test } from 'vitest'
import pino from 'pino'
import { findResponseLevel } from '../../../src/app/logger/response-level.js'

/** As Node creates it for a server. */
const request = { statusCode: null, method: 'GET' }
const failed = new Error('reset')

describe.each<[string, (response: unknown, error?: unknown) => unknown[]]>([
  ['versions 7 to 11', (response, error) => [request, response, error]],
  ['versions 7 to 11 without a request', (response, error) => [undefined, response, error]],
  ['version 6', (response, error) => [response, error]],
  ['version 6 with a request', (response, error) => [response, error, request]],
])('as called by %s', (_versions, toArguments) => {
  test.each<[object, unknown, string]>([
    [{ statusCode: 200 }, undefined, 'info'],
    [{ statusCode: 404 }, undefined, 'warn'],
    [{ statusCode: 503 }, undefined, 'error'],
    [{ statusCode: 200 }, failed, 'error'],
    [{ statusCode: 200, err: failed }, undefined, 'error'],
    [{ statusCode: 404, err: failed }, undefined, 'warn'],
  ])('%j with the error %s is logged at %s', (response, error, level) => {
    expect(findResponseLevel(...toArguments(response, error))).toBe(level)
  })
})

test('never throws', () => {
  for (const values of [[], [null], [undefined, null], [request], ['a', 'b']])
    expect(findResponseLevel(...values)).toBe('info')
})

test("returns the logger's own name of the level", () => {
  const customLevels = { emerg: 0, err: 3, warning: 4, info: 6 }
  const log = pino({ customLevels, useOnlyCustomLevels: true, levelComparison: 'DESC', level: 'info' })
  const levels = [200, 404, 500].map((statusCode) => findResponseLevel(request, { statusCode, log }))
  expect(levels).toEqual(['info', 'warning', 'err'])
})
