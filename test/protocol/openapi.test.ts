/** docs/openapi.json is generated from the code (`npm run docs` rewrites it), and the local service answers as it says. */
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { IngestServiceOptions } from '../../src/service/index.js'
import { readText, root } from '../markdown.js'
import { call, started } from '../service/support.js'
import { createOpenApi } from './openapi.js'
import type { Schema } from './openapi.js'

const FILE = 'docs/openapi.json'

const pretty = JSON.stringify(createOpenApi(), undefined, 2)
/** The innermost objects are on one line each. */
const text = `${pretty.replaceAll(/\{\s+("[^{}]*?)\s+\}/g, (inner) => inner.replaceAll(/\s*\n\s*/g, ' '))}\n`

test('it matches the code', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(root + FILE, text)
  expect(readText(FILE)).toBe(text)
})

interface Operation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: Schema }>; headers?: object }>>
}

const { paths, components } = JSON.parse(text) as {
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  integer: Number.isInteger,
}

/** Whether a value has the form, with the keywords of JSON Schema that the file uses. */
function matches(schema: Schema, value: unknown): boolean {
  const {
    $ref,
    anyOf,
    type,
    enum: values,
    items,
    maxItems = Infinity,
    properties,
    required = [],
  } = schema as {
    $ref?: string
    anyOf?: Schema[]
    type?: string
    enum?: unknown[]
    items?: Schema
    maxItems?: number
    properties?: Record<string, Schema>
    required?: string[]
  }
  if ($ref !== undefined) return matches(components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, value)
  if (anyOf !== undefined) return anyOf.some((one) => matches(one, value))
  if (type !== undefined && !(TYPES[type]?.(value) ?? typeof value === type)) return false
  if (values?.includes(value) === false) return false
  if (Array.isArray(value)) return value.length <= maxItems && value.every((one) => matches(items ?? {}, one))
  const members = Object(value) as Record<string, unknown>
  return (
    required.every((name) => name in members) &&
    Object.entries(properties ?? {}).every(([name, one]) => !(name in members) || matches(one, members[name]))
  )
}

const entry = { level: 'info', message: 'm', timestamp: '2026-01-31T08:00:00.000Z' }
const request = {
  method: 'GET',
  path: '/',
  status_code: 200,
  duration_ms: 1.5,
  request_id: 'r',
  timestamp: entry.timestamp,
}
const OTHER_KEY = { 'x-api-key': 'another' }

interface Sent {
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly options?: IngestServiceOptions
}

/** What the local service answers with each status, by path. */
const SENT: Readonly<Record<string, Readonly<Record<number, readonly Sent[]>>>> = {
  '/ingest': keyed({ batch_id: 'b', logs: [entry] }, [
    { batch_id: 'b' },
    { batch_id: 'b', logs: Array.from({ length: 101 }, () => entry) },
    ...Object.keys(entry).map((name) => ({ batch_id: 'b', logs: [{ ...entry, [name]: 7 }] })),
    { batch_id: 'b', logs: [{ ...entry, request: { status_code: 1.5 } }] },
  ]),
  '/ingest/requests': keyed({ requests: [request] }, [{}, { requests: [{ ...request, status_code: 1.5 }] }]),
  '/feedback': keyed({ event_id: 'e', comments: 'c' }, [{ event_id: 'e' }, { event_id: 7, comments: 'c' }]),
  '/releases/register': keyed({ version: '1' }, [{}, { version: 1 }]),
  '/heartbeat/{monitor_token}': { 200: [{}], 404: [{ options: { monitorTokens: ['other-token'] } }] },
}

function keyed(body: object, invalid: readonly object[]): Readonly<Record<number, readonly Sent[]>> {
  return {
    200: [{ body }],
    401: [{ body, headers: OTHER_KEY }],
    422: invalid.map((one) => ({ body: one })),
    429: [{ body, options: { rateLimit: { requests: 0, windowMs: 1000 } } }],
  }
}

test('each path and status has a request', () => {
  const listed = Object.entries(paths).map(([path, { post }]) => [path, Object.keys(post.responses)])
  expect(listed).toEqual(Object.entries(SENT).map(([path, statuses]) => [path, Object.keys(statuses)]))
})

describe.each(Object.entries(paths))('%s', (path, { post: { requestBody, responses } }) => {
  test.each(Object.entries(SENT[path] ?? {}))('%s', async (status, requests) => {
    for (const { body, headers = {}, options } of requests) {
      const service = await started({ apiKeys: ['key-1'], ...options })
      const answer = await call(service.url + path.replace(/\{.*\}/, 'token'), { body, headers })
      expect(answer.status).toBe(Number(status))
      if (requestBody !== undefined)
        expect(matches(requestBody.content['application/json']?.schema ?? {}, body)).toBe(status !== '422')
      const reply = responses[status]
      expect(matches(reply?.content?.['application/json']?.schema ?? {}, answer.json)).toBe(true)
      for (const name of Object.keys(reply?.headers ?? {})) expect(answer.headers).toHaveProperty(name.toLowerCase())
    }
  })
})
