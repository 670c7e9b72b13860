/** The fields that a scope adds to the records of a real logger. A record's own fields win. */
import { afterEach, describe, expect, test } from 'vitest'
import pino from 'pino'
import { addBreadcrumb, takeBreadcrumbs } from '../../../src/app/scope/scope-breadcrumbs.js'
import { ingestMixin } from '../../../src/app/logger/ingest-mixin.js'
import { withScope } from '../../../src/app/scope/scope.js'
import { findHistory } from '../../../src/app/scope/app-state.js'
import { bare, lines } from '../lines.js'

const out = lines()
const logger = pino({ level: 'trace', mixin: ingestMixin() }, out.stream)
const logged = (): Record<string, unknown> => bare(out.last())

const SCOPE = {
  user: { id: 'u', email: 'u@example.com' },
  user_id: 'u',
  session_id: 's',
  request_id: 'r',
  tags: ['t'],
  trace: { trace_id: 'a1', span_id: 'b1', parent_span_id: 'c1' },
  fields: { tenant: 'acme' },
}
const WHOLE = {
  user: { id: 'u', email: 'u@example.com' },
  user_id: 'u',
  session_id: 's',
  request_id: 'r',
  tags: ['t'],
  trace_id: 'a1',
  span_id: 'b1',
  parent_span_id: 'c1',
  tenant: 'acme',
}
const without = (...names: string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(WHOLE).filter(([name]) => !names.includes(name)))

test('keeps a member named __proto__', () => {
  withScope({ session_id: 's' }, () => logger.info(JSON.parse('{"__proto__":{"x":1},"a":1}') as object, 'm'))
  expect(JSON.stringify(out.last())).toContain('"__proto__":{"x":1}')
  expect(out.last()).toMatchObject({ a: 1, session_id: 's' })
})

describe('a record in a scope', () => {
  test('has the fields of the scope; outside a scope nothing is added', () => {
    logger.info({ a: 1 }, 'outside')
    expect(logged()).toEqual({ a: 1, msg: 'outside' })
    withScope(SCOPE, () => logger.info({ a: 1 }, 'inside'))
    expect(logged()).toEqual({ ...WHOLE, a: 1, msg: 'inside' })
    withScope(SCOPE, () => logger.info('text alone'))
    expect(logged()).toEqual({ ...WHOLE, msg: 'text alone' })
  })

  const cases: readonly [Record<string, unknown>, readonly string[]][] = [
    [{ user_id: 'x' }, ['user', 'user_id']],
    [{ user: { name: 'x' } }, ['user', 'user_id']],
    [{ user_id: 'u' }, ['user_id']],
    [{ user: { id: 'u' } }, ['user']],
    [{ session_id: 'x' }, ['session_id']],
    [{ request_id: 'x' }, ['request_id']],
    [{ reqId: 'x' }, []],
    [{ tags: ['x'] }, ['tags']],
    [{ tenant: 'x' }, ['tenant']],
    [{ traceId: 'x' }, ['trace_id', 'span_id', 'parent_span_id']],
    [{ trace: { trace_id: 'x' } }, ['trace_id', 'span_id', 'parent_span_id']],
    [{ dd: { trace_id: 'x' } }, ['trace_id', 'span_id', 'parent_span_id']],
  ]
  test.each(cases)('its own %j wins', (own, gone) => {
    withScope(SCOPE, () => logger.info(own))
    expect(logged()).toEqual({ ...without(...gone), ...own })
  })

  test.each(cases.filter(([own]) => Object.values(own)[0] !== 'u' && JSON.stringify(own) !== '{"user":{"id":"u"}}'))(
    "a child's binding %j wins, and the name occurs once",
    (own, gone) => {
      const text: string[] = []
      const child = pino({ mixin: ingestMixin() }, { write: (line) => void text.push(line) }).child(own)
      withScope(SCOPE, () => child.info({ a: 1 }))
      expect(bare(JSON.parse(text[0] as string) as Record<string, unknown>)).toEqual({
        ...without(...gone),
        ...own,
        a: 1,
      })
      for (const name of Object.keys(own))
        expect(text[0]?.split(`"${name}":`).length).toBe(
          name === 'trace_id' || JSON.stringify(own).split(`"${name}":`).length > 2 ? 3 : 2,
        )
    },
  )
})

describe("the app's own mixin", () => {
  test('is called as pino calls it, and the fields it returns win', () => {
    const calls: unknown[][] = []
    const own = pino(
      {
        mixin: ingestMixin((...args: unknown[]) => {
          calls.push(args)
          return { request_id: 'own', extra: true }
        }),
      },
      out.stream,
    )
    withScope(SCOPE, () => own.warn({ a: 1 }, 'x'))
    expect(logged()).toEqual({ ...WHOLE, request_id: 'own', extra: true, a: 1, msg: 'x' })
    expect(calls).toEqual([[{ a: 1 }, 40, own]])
  })
})

describe('breadcrumbs', () => {
  test('are added to the next error record only', () => {
    withScope({}, () => {
      addBreadcrumb({ message: 'one' })
      logger.warn('not yet')
      expect(out.last()).not.toHaveProperty('breadcrumbs')
      logger.error('first')
      expect(out.last()).toMatchObject({ breadcrumbs: [{ message: 'one' }] })
      logger.fatal('second')
      expect(out.last()).not.toHaveProperty('breadcrumbs')
    })
  })

  test("are kept if the record has its own, from the call, the app's mixin or a binding", () => {
    withScope({}, () => {
      addBreadcrumb({ message: 'kept' })
      const own = [{ message: 'own' }]
      logger.error({ breadcrumbs: own })
      logger.child({ breadcrumbs: own }).error('x')
      pino({ mixin: ingestMixin(() => ({ breadcrumbs: own })) }, out.stream).error('x')
      for (const record of out.records().slice(-3)) expect(record['breadcrumbs']).toEqual(own)
      expect(takeBreadcrumbs(findHistory())).toMatchObject([{ message: 'kept' }])
    })
  })

  test('are kept if the record is not written', () => {
    withScope({}, () => {
      addBreadcrumb({ message: 'kept' })
      pino({ level: 'fatal', mixin: ingestMixin() }, out.stream).error('not written')
      expect(takeBreadcrumbs(findHistory()).length).toBe(1)
    })
  })
})

describe('OpenTelemetry', () => {
  const API = Symbol.for('opentelemetry.js.api.1')
  const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')
  const global = globalThis as Record<symbol, unknown>
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const spanId = 'b7ad6b7169203331'
  const activate = (spanContext: () => unknown): void => {
    global[API] = {
      version: '1.9.0',
      context: { active: () => ({ getValue: (key: symbol) => (key === SPAN ? { spanContext } : undefined) }) },
    }
  }
  afterEach(() => void delete global[API])

  test('its active span wins over the trace of the scope, and is used outside a scope', () => {
    activate(() => ({ traceId, spanId, traceFlags: 1 }))
    logger.info('x')
    expect(logged()).toEqual({ trace_id: traceId, span_id: spanId, msg: 'x' })
    withScope({ trace: { trace_id: 'a1', parent_span_id: 'c1' } }, () => logger.info('x'))
    expect(logged()).toEqual({ trace_id: traceId, span_id: spanId, msg: 'x' })
    logger.info({ trace_id: 'own' })
    expect(logged()).toEqual({ trace_id: 'own' })
  })

  test('ignores invalid ids and an SDK that throws', () => {
    activate(() => ({ traceId: '0'.repeat(32), spanId }))
    withScope({ trace: { trace_id: 'a1' } }, () => logger.info('x'))
    expect(logged()).toEqual({ trace_id: 'a1', msg: 'x' })
    activate(() => {
      throw new Error('broken')
    })
    logger.info({ a: 1 }, 'x')
    expect(logged()).toEqual({ a: 1, msg: 'x' })
    withScope({ request_id: 'r' }, () => logger.info('x'))
    expect(logged()).toEqual({ request_id: 'r', msg: 'x' })
  })
})
