/** `captureError()` logs any thrown value and always returns an id. */
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import pino from 'pino'
import { addBreadcrumb } from '../../../src/app/scope/scope-breadcrumbs.js'
import { captureError } from '../../../src/app/errors/capture-error.js'
import { ingestOptions } from '../../../src/app/logger/ingest-options.js'
import { withScope } from '../../../src/app/scope/scope.js'
import { Mapper } from '../../../src/record/mapper.js'
import { bare, lines } from '../lines.js'
import { mapLine } from '../../record/map-line.js'
import { createMappingOptions } from '../../record/record-lines.js'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const out = lines()
const logger = pino(ingestOptions({ transport: false }), out.stream)

function entryOf(record: unknown): Record<string, unknown> {
  const text = JSON.stringify(record)
  const mapper = new Mapper(createMappingOptions(), 0, () => 0)
  return JSON.parse(mapLine(mapper, text).json) as Record<string, unknown>
}

describe('captureError', () => {
  test('logs an error at level error, with fields and breadcrumbs, and returns the id of the entry', () => {
    const id = withScope({ request_id: 'r' }, () => {
      addBreadcrumb({ message: 'before' })
      return captureError(logger, new TypeError('boom'), { order: 7 })
    })
    expect(id).toMatch(UUID)
    expect(out.last()).toMatchObject({
      level: 50,
      msg: 'boom',
      order: 7,
      event_id: id,
      request_id: 'r',
      err: { type: 'TypeError', message: 'boom' },
      breadcrumbs: [{ message: 'before' }],
    })
    expect(entryOf(out.last())).toMatchObject({
      level: 'error',
      message: 'boom',
      error: { type: 'TypeError' },
      metadata: { event_id: id, order: 7 },
    })
  })

  test('accepts a message, an id given by the caller, and a child logger with another errorKey', () => {
    const other = lines()
    const child = pino(ingestOptions({ transport: false, errorKey: 'failure' }), other.stream).child({ a: 1 })
    expect(captureError(child, new Error('boom'), { msg: 'could not pay', event_id: 'told' })).toBe('told')
    expect(bare(other.last())).toMatchObject({
      a: 1,
      msg: 'could not pay',
      event_id: 'told',
      failure: { message: 'boom' },
    })
  })

  test.each<[unknown, string, Record<string, unknown>]>([
    ['text', 'text', { error: { message: 'text' } }],
    [null, 'null', { metadata: { err: null } }],
    [{ code: 5 }, 'a non-error value was thrown', { metadata: { err: { code: 5 } } }],
    [
      { message: 'like one', code: 5 },
      'like one',
      { error: { message: 'like one' }, metadata: { error: { code: 5 } } },
    ],
    [new Error(''), 'Error', { error: { type: 'Error', message: '' } }],
    [Symbol('s'), 'Symbol(s)', {}],
  ])('logs the thrown value %j', (thrown, message, entry) => {
    const id = captureError(logger, thrown)
    expect(out.last()).toMatchObject({ level: 50, msg: message, event_id: id })
    expect(entryOf(out.last())).toMatchObject({ message, ...entry })
  })

  test('omits a value that cannot be logged', () => {
    const err = (): never => {
      throw new Error('no')
    }
    const id = captureError(pino({ serializers: { err } }, out.stream), new Error('boom'))
    const stack = expect.stringMatching(/^Error: boom\n/) as string
    expect(bare(out.last())).toEqual({ event_id: id, msg: 'an error was caught that cannot be logged', stack })
    expect(entryOf(out.last())).toMatchObject({ error: { type: 'Error', message: 'boom', stack } })
    const fields = Object.defineProperty({}, 'x', { enumerable: true, get: err })
    expect(captureError(logger, new Error('boom'), fields as Record<string, unknown>)).toMatch(UUID)
    expect(captureError(logger, new Proxy({}, { get: err }))).toMatch(UUID)
  })

  test('reports a logger that throws once, and throws nothing', async () => {
    const warned = once(process, 'warning')
    const dead = {
      error: () => {
        throw new Error('the worker has exited')
      },
    }
    expect(captureError(dead, new Error('boom'))).toMatch(UUID)
    const hostile = {
      get stack() {
        throw new Error('no')
      },
    }
    expect(captureError(dead, hostile)).toMatch(UUID)
    expect(captureError(undefined as never, new Error('boom'))).toMatch(UUID)
    const [warning] = (await warned) as [Error]
    expect(warning).toMatchObject({
      code: 'PINO_INGEST_CAPTURE',
      message: 'captureError() could not log: the worker has exited',
    })
  })
})
