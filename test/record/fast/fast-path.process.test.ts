/** The fast path and the reference path give the same entry for every line. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FastPath } from '../../../src/record/fast/fast-path.js'
import { createMappedRecord } from '../../../src/record/mapped-record.js'
import { mapByParsing } from '../../../src/record/reference/reference-path.js'
import type { MappingOptions } from '../../../src/record/reference/entry-fields.js'
import { RECEIVED_AT, anyLine, corpus, createMappingOptions, usualLine } from '../record-lines.js'

const mapped = createMappedRecord()

const configurations: [string, MappingOptions][] = [
  ['no options', createMappingOptions()],
  [
    'every option',
    createMappingOptions({
      service: 'checkout',
      fallbackService: 'app',
      environment: 'test',
      version: '1.2.3',
      releaseId: 'rel_1',
      deploy: { commit: 'abc' },
      tags: ['a', 'b'],
      metadata: { region: 'eu', a: 1 },
    }),
  ],
  [
    'other keys',
    createMappingOptions({
      messageKey: 'message',
      errorKey: 'error',
      levels: { 30: 'info', 35: 'audit', 20: 'critical' },
      fallbackService: 'app',
    }),
  ],
  ['nested', createMappingOptions({ nestedKey: 'payload' })],
  ['keys that mean something', createMappingOptions({ messageKey: 'action', errorKey: 'name' })],
  [
    'other names of a request',
    createMappingOptions({ requestKeys: { req: 'q', res: 's', responseTime: 'took', reqId: 'rid' } }),
  ],
  [
    'names of a request that are fields',
    createMappingOptions({
      messageKey: 'message',
      requestKeys: { req: 'request', res: 'user', responseTime: 'duration_ms', reqId: 'action' },
    }),
  ],
  [
    'one id of a request under the name of another',
    createMappingOptions({ requestKeys: { req: 'req', res: 'res', responseTime: 'took', reqId: 'x-request-id' } }),
  ],
  ['fingerprint', createMappingOptions({ fingerprint: 'auto' })],
]

function fast(line: string, options: MappingOptions): string | undefined {
  const path = new FastPath(options)
  return path.map(line, 0, line.length, -1, mapped) ? `${mapped.openJson}}` : undefined
}

describe.each(configurations)('with %s', (_, options) => {
  test.each(corpus.map(({ label, raw }) => [label, raw] as const))('corpus: %s', (_label, raw) => {
    const json = fast(raw, options)
    if (json !== undefined) expect(JSON.parse(json)).toEqual(JSON.parse(mapByParsing(raw, options, RECEIVED_AT).json))
  })

  test('generated lines', () => {
    let taken = 0
    fc.assert(
      fc.property(anyLine, (line) => {
        const json = fast(line, options)
        if (json === undefined) return
        taken += 1
        const reference = mapByParsing(line, options, RECEIVED_AT)
        expect(JSON.parse(json)).toEqual(JSON.parse(reference.json))
        expect([mapped.requestPart, mapped.requestId]).toEqual([reference.requestPart, reference.requestId])
      }),
      { numRuns: 4_000 },
    )
    if (options.nestedKey === undefined && options.messageKey === 'msg') expect(taken).toBeGreaterThan(500)
  })
})

test('a path that has mapped other lines before maps the next one the same', () => {
  const options = createMappingOptions()
  const path = new FastPath(options)
  fc.assert(
    fc.property(fc.array(usualLine, { minLength: 2, maxLength: 8 }), (lines) => {
      const text = lines.join('\n')
      path.beginText()
      let start = 0
      for (const line of lines) {
        const end = start + line.length
        if (path.map(text, start, end, -1, mapped)) {
          const reference = mapByParsing(line, options, RECEIVED_AT)
          expect(JSON.parse(`${mapped.openJson}}`)).toEqual(JSON.parse(reference.json))
          expect([mapped.requestPart, mapped.requestId]).toEqual([reference.requestPart, reference.requestId])
        }
        start = end + 1
      }
    }),
    { numRuns: 1_000 },
  )
})

test('what applications log every day takes the fast path', () => {
  const usual = [
    'plain info',
    'info obj+msg',
    'error(err)',
    'error({err}, msg)',
    'child bindings',
    'mixin',
    'err with extra props (code, statusCode, errno)',
    'pino-http success (GET /ok?x=1)',
    'pino-http 404',
    'fastify 5 incoming request',
    'fastify 5 request completed',
    'timestamp isoTime',
  ]
  const missed = usual.filter((label) => {
    const record = corpus.find((one) => one.label.trim() === label)
    return record === undefined || fast(record.raw, createMappingOptions()) === undefined
  })
  expect(missed).toEqual(['info obj+msg']) // tags are a list, which only the reference path checks
})
