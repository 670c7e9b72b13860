/** An entry as a row of a list. */
import { describe, expect, it } from 'vitest'
import { summarizeEntry } from '../../../src/service/query/entry-summary.js'
import { entryOf } from '../support.js'

describe('a summary', () => {
  const stored = (fields: Parameters<typeof entryOf>[0]) => ({
    id: 'ent_run_1',
    seq: 1,
    received_at: '2026-01-31T08:00:00.000Z',
    batch_id: 'b',
    entry: entryOf(fields),
  })

  it('leaves out what the entry lacks', () => {
    expect(summarizeEntry(stored({ tags: [], breadcrumbs: [], trace: {} }))).toEqual({
      id: 'ent_run_1',
      seq: 1,
      received_at: '2026-01-31T08:00:00.000Z',
      level: 'info',
      message: 'hello',
      timestamp: '2026-01-31T08:00:00.000Z',
    })
  })

  it('has what a row shows, at a bounded length, and nothing else', () => {
    const long = 'x'.repeat(1000)
    const summary = summarizeEntry(
      stored({
        message: long,
        service: 's',
        environment: 'e',
        version: 'v',
        release_id: 'r',
        request_id: 'q',
        tags: ['t'],
        trace: { trace_id: 't', span_id: 's' },
        error: { type: long, message: long, stack: long },
        request: { method: 'GET', url: long, path: long, status_code: 200, duration_ms: 1.5, ip: '::1' },
        breadcrumbs: [{}, {}],
        metadata: { a: 1 },
        user_id: 'u',
      }),
    )
    expect(summary).toMatchObject({
      service: 's',
      environment: 'e',
      version: 'v',
      release_id: 'r',
      request_id: 'q',
      tags: ['t'],
      trace_id: 't',
      breadcrumbs: 2,
      request: { method: 'GET', status_code: 200, duration_ms: 1.5 },
    })
    expect([
      summary.message.length,
      summary.error?.type?.length,
      summary.error?.message?.length,
      summary.request?.path?.length,
    ]).toEqual([500, 200, 200, 200])
    expect(JSON.stringify(summary)).not.toMatch(/stack|url|ip"|metadata|user/)
  })

  it('cuts every text, and leaves what is short enough as it is', () => {
    const long = 'x'.repeat(1000)
    const texts = (text: string) => {
      const { service, environment, version, release_id, request_id, trace_id, request, tags } = summarizeEntry(
        stored({
          service: text,
          environment: text,
          version: text,
          release_id: text,
          request_id: text,
          trace: { trace_id: text },
          request: { method: text, path: text },
          tags: Array.from({ length: 30 }, () => text),
        }),
      )
      return {
        tags,
        others: [service, environment, version, release_id, request_id, trace_id, request?.method, request?.path],
      }
    }
    expect(texts(long)).toEqual({
      tags: Array(20).fill(`${long.slice(0, 99)}…`),
      others: Array(8).fill(`${long.slice(0, 199)}…`),
    })
    expect(texts('é💥'.repeat(60)).others[0]).toHaveLength(180)
    expect(texts('💥'.repeat(101)).others[0]).toBe(`${'💥'.repeat(99)}…`)
  })
})
