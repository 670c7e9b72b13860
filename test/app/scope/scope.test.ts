/** Scopes and breadcrumbs: isolation, nesting, and values of the app that throw. */
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import pino from 'pino'
import { limitObject } from '../../../src/app/scope/bounded-copy.js'
import { addBreadcrumb, takeBreadcrumbs } from '../../../src/app/scope/scope-breadcrumbs.js'
import { ingestMixin } from '../../../src/app/logger/ingest-mixin.js'
import { withScope } from '../../../src/app/scope/scope.js'
import type { ScopeContext } from '../../../src/app/scope/scope-context.js'
import { findScope, findHistory } from '../../../src/app/scope/app-state.js'
import { lines } from '../lines.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

function messages(): (string | undefined)[] {
  return takeBreadcrumbs(findHistory()).map(({ message }) => message)
}

beforeEach(() => void takeBreadcrumbs(findHistory())) // of the process

describe('withScope', () => {
  test('returns the result of the function, and throws its error', async () => {
    expect(withScope({}, () => 7)).toBe(7)
    expect(await withScope({}, async () => 8)).toBe(8)
    expect(() =>
      withScope({}, () => {
        throw new RangeError("the app's")
      }),
    ).toThrow(RangeError)
    await expect(
      withScope({}, async () => {
        throw new RangeError("the app's")
      }),
    ).rejects.toThrow(RangeError)
    expect(findScope()).toBeUndefined()
  })

  test('reads ids, the three user fields, tags, and a trace in each form', () => {
    const read = (context: unknown): unknown => withScope(context as ScopeContext, () => findScope()?.facts)
    const user = { id: 7, email: 'a@example.com', name: 'Ada', passwordHash: 'x' }
    expect(
      read({ user, user_id: 7, sessionId: 's', requestId: 9n, tags: ['a', 'b'], fields: { tenant: 't' } }),
    ).toEqual({
      user: { id: '7', email: 'a@example.com', name: 'Ada' },
      user_id: '7',
      session_id: 's',
      request_id: '9',
      tags: ['a', 'b'],
      fields: { tenant: 't' },
    })
    expect(read({ trace: `00-${TRACE}-${SPAN}-01` })).toEqual({ trace: { trace_id: TRACE, parent_span_id: SPAN } })
    expect(read({ traceparent: `cc-${TRACE}-${SPAN}-01-what-is-new` })).toEqual({
      trace: { trace_id: TRACE, parent_span_id: SPAN },
    })
    expect(read({ trace: { traceId: 't', span_id: 's' } })).toEqual({ trace: { trace_id: 't', span_id: 's' } })
  })

  test.each([
    ['nothing', undefined],
    ['empty ids', { user_id: '', request_id: null, session_id: {}, user: {} }],
    ['an invalid version', { trace: `ff-${TRACE}-${SPAN}-01` }],
    ['a trace of zeros', { trace: `00-${'0'.repeat(32)}-${SPAN}-01` }],
    ['no fields', { fields: 'x' }],
    [
      'a getter that throws',
      {
        get user() {
          throw new Error('no')
        },
      },
    ],
  ])('ignores %s', (_, context) => {
    expect(withScope(context as unknown as ScopeContext, () => findScope()?.facts)).toEqual({})
  })

  test('an inner scope adds to the outer one, and ends', () => {
    withScope({ user_id: 'u', tags: ['a'], fields: { x: 1, y: 1 } }, () => {
      withScope({ session_id: 's', tags: ['b', 'a'], fields: { y: 2 } }, () => {
        expect(findScope()?.facts).toEqual({
          user_id: 'u',
          session_id: 's',
          tags: ['a', 'b'],
          fields: { x: 1, y: 2 },
        })
      })
      expect(findScope()?.facts).toEqual({ user_id: 'u', tags: ['a'], fields: { x: 1, y: 1 } })
    })
  })

  test('never mixes the fields of two users', () => {
    withScope({ user: { id: 'a', email: 'a@example.com' }, user_id: 'a' }, () => {
      withScope({ user_id: 'b' }, () => expect(findScope()?.facts).toEqual({ user_id: 'b' }))
      withScope({ user: { email: 'b@example.com' } }, () =>
        expect(findScope()?.facts).toEqual({ user: { email: 'b@example.com' } }),
      )
      withScope({ user_id: 'a' }, () => expect(findScope()?.facts.user?.email).toBe('a@example.com'))
    })
  })
})

describe('breadcrumbs', () => {
  test('belong to the scope in which they were added', async () => {
    addBreadcrumb({ message: 'outside' })
    await withScope({ request_id: 'r' }, async () => {
      addBreadcrumb({ message: 'one' })
      await turn()
      addBreadcrumb({ message: 'two' })
      expect(messages()).toEqual(['one', 'two'])
      expect(messages()).toEqual([])
    })
    expect(messages()).toEqual(['outside'])
  })

  test.each<[string, ScopeContext, ScopeContext, boolean]>([
    ['more about the same request', { request_id: 'r' }, { user_id: 'u', tags: ['x'] }, true],
    ['its trace', { request_id: 'r' }, { trace: { trace_id: 't' } }, true],
    ['the same id again', { request_id: 'r' }, { request_id: 'r' }, true],
    ['another request', { request_id: 'r' }, { request_id: 'q' }, false],
    ['another trace', { trace: { trace_id: 't' } }, { trace: { trace_id: 'v' } }, false],
    ['a request of a session', { session_id: 's' }, { request_id: 'r' }, false],
  ])('of an inner scope with %s: case %#', (_, outer, inner, isShared) => {
    withScope(outer, () => {
      addBreadcrumb({ message: 'before' })
      withScope(inner, () => addBreadcrumb({ message: 'within' }))
      expect(messages()).toEqual(isShared ? ['before', 'within'] : ['before'])
    })
  })

  test('are limited to the last 100', () => {
    withScope({}, () => {
      for (let n = 0; n < 250; n += 1) addBreadcrumb({ message: String(n) })
      expect(messages()).toEqual(Array.from({ length: 100 }, (_, index) => String(150 + index)))
    })
  })

  test('have the time at which they were added, or their own', () => {
    vi.useFakeTimers({ now: Date.UTC(2025, 0, 2, 3, 4, 5, 6) })
    try {
      withScope({}, () => {
        for (const timestamp of [undefined, 0, new Date(1), '2024-01-01T00:00:00Z', 'no time'])
          addBreadcrumb({ timestamp })
        expect(takeBreadcrumbs(findHistory()).map((breadcrumb) => breadcrumb.timestamp)).toEqual([
          '2025-01-02T03:04:05.006Z',
          '1970-01-01T00:00:00.000Z',
          '1970-01-01T00:00:00.001Z',
          '2024-01-01T00:00:00.000Z',
          '2025-01-02T03:04:05.006Z',
        ])
      })
    } finally {
      vi.useRealTimers()
    }
  })

  test('keep the data they had when they were added', () => {
    withScope({}, () => {
      const data = { items: [1] }
      addBreadcrumb({ type: 'user', category: 'cart', message: 'added', level: 'info', data })
      data.items.push(2)
      expect(takeBreadcrumbs(findHistory())).toMatchObject([
        { type: 'user', category: 'cart', message: 'added', level: 'info', data: { items: [1] } },
      ])
    })
  })

  test('with unreadable members cause no error', () => {
    const hostile = {
      get message() {
        throw new Error('no')
      },
    }
    withScope({}, () => {
      for (const breadcrumb of [undefined, 5, 'text', hostile, { timestamp: Symbol('x') }])
        expect(() => addBreadcrumb(breadcrumb as never)).not.toThrow()
      for (const breadcrumb of takeBreadcrumbs(findHistory())) expect(Object.keys(breadcrumb)).toEqual(['timestamp'])
    })
  })
})

describe('data of breadcrumbs', () => {
  test('is small for any input', () => {
    const circular: Record<string, unknown> = { a: 1 }
    circular['self'] = circular
    expect(limitObject(circular)).toEqual({ a: 1, self: { a: 1, self: { a: 1, self: '[object]' } } })
    expect(JSON.stringify(limitObject({ text: 'x'.repeat(1e6) })).length).toBeLessThan(1_100)
    const wide = Object.fromEntries(
      Array.from({ length: 1e4 }, (_, index) => [`k${index}`, [index, 'x'.repeat(5_000)]]),
    )
    expect(JSON.stringify(limitObject({ wide, list: [wide, wide, wide] })).length).toBeLessThan(300_000)
    const fail = (): never => {
      throw new Error('no')
    }
    expect(limitObject(Object.defineProperty({ yes: 1 }, 'no', { enumerable: true, get: fail }))).toEqual({
      yes: 1,
      no: '[unreadable]',
    })
    expect(limitObject(new Proxy({}, { ownKeys: fail }))).toEqual({ value: '[unreadable]' })
    const kinds = { f() {}, s: Symbol('x'), n: Number.NaN, b: 12n, d: new Date(0), u: new URL('http://a/') }
    expect(limitObject({ ...kinds, e: new TypeError('t'), z: Buffer.from('abc') })).toEqual({
      n: 'NaN',
      b: '12',
      d: '1970-01-01T00:00:00.000Z',
      u: 'http://a/',
      e: 'TypeError: t',
      z: '[3 bytes]',
    })
    const forged = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as object
    expect(JSON.stringify(limitObject(forged))).toBe('{"__proto__":{"x":1},"constructor":2}')
  })
})

test('keeps 100 concurrent scopes apart', async () => {
  const { stream, records } = lines()
  const logger = pino({ level: 'info', mixin: ingestMixin() }, stream)
  await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      withScope({ request_id: `r${n}`, user_id: n }, async () => {
        for (let step = 0; step < 10; step += 1) {
          for (let turns = (n * 7 + step) % 5; turns >= 0; turns -= 1) await turn()
          addBreadcrumb({ message: `r${n} ${step}` })
          logger.info({ n }, 'step')
        }
        if (n % 10 === 0) logger.error({ n }, 'failed')
      }),
    ),
  )
  const all = records()
  expect(all.length).toBe(1_010)
  for (const { n, request_id: requestId, user_id: userId } of all)
    expect([requestId, userId]).toEqual([`r${n}`, String(n)])
  const failed = all.filter(({ level }) => level === 50)
  expect(failed.length).toBe(10)
  for (const { n, breadcrumbs } of failed) {
    expect((breadcrumbs as { message: string }[]).map(({ message }) => message)).toEqual(
      Array.from({ length: 10 }, (_, step) => `r${n} ${step}`),
    )
  }
})

test('both builds share the scope and the breadcrumbs', async () => {
  vi.resetModules()
  const other = {
    ...(await import('../../../src/app/scope/scope.js')),
    ...(await import('../../../src/app/scope/app-state.js')),
  }
  expect(other.withScope).not.toBe(withScope)
  other.withScope({ request_id: 'r' }, () => {
    addBreadcrumb({ message: 'shared' })
    expect(findScope()?.facts).toEqual({ request_id: 'r' })
    expect(other.findHistory().breadcrumbs).toMatchObject([{ message: 'shared' }])
  })
})
