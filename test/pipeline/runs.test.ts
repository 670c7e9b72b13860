/** Text is read in runs: with the kernel, its entries and their breadcrumbs are those of the reference path. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { EntryBuilder } from '../../src/pipeline/entry-builder.js'
import { RecordReader } from '../../src/pipeline/record-reader.js'
import { Batcher } from '../../src/pipeline/batcher.js'
import { createMappingOptions } from '../../src/pipeline/mapping-options.js'
import { Mapper } from '../../src/record/mapper.js'
import { RequestJoiner } from '../../src/request-logs/request-joiner.js'
import { FakeClock } from '../fake-clock.js'
import { modelRuns } from '../model-runs.js'
import { cutAt } from '../record/create-ring.js'
import { anyLine, corpus, errorLine } from '../record/record-lines.js'

const INFO = 1

interface Read {
  readonly entries: unknown[]
  /** Received, filtered, and refused. */
  readonly counts: readonly number[]
}

interface Sizes {
  readonly size: number
  readonly bytes: number
  readonly admitted: number
}

/** Reads texts as the pipeline does, and returns their entries. */
function createSubject({ admitted, ...batch }: Sizes, isReference: boolean): (texts: readonly string[]) => Read {
  const settings = resolveOptions(
    { url: 'https://h/api/v1', apiKey: 'k', breadcrumbs: { limit: 5 } },
    { env: {}, readFile: () => '' },
  )
  const mapping = createMappingOptions(settings, undefined)
  const clock = new FakeClock()
  const mapper = new Mapper(mapping, INFO, () => 0)
  if (isReference) Object.defineProperty(mapper, 'kernel', { value: undefined })
  const account = new Account()
  const entries: unknown[] = []
  let refused = 0
  const batcher = new Batcher({
    clock,
    batch: { ...batch, intervalMs: 1 },
    onBatch: ({ body, count }) => {
      const { logs } = JSON.parse(body.toString()) as { logs: unknown[] }
      expect([logs.length, count <= batch.size]).toEqual([count, true])
      if (count > 1) expect(body.length).toBeLessThanOrEqual(batch.bytes)
      entries.push(...logs)
    },
  })
  batcher.limitBytes(batch.bytes)
  const reader = new RecordReader({
    isEnabled: true,
    endpoint: {
      account,
      admission: { threshold: admitted },
      batcher,
      recordNotAdmitted: (count) => (refused += count),
    },
    entryBuilder: new EntryBuilder({
      settings,
      mapping,
      clock,
      mapper,
      joiner: new RequestJoiner({ clock, ...mapping }),
      requests: undefined,
      hook: undefined,
      onProblem: expect.unreachable,
      onSummary: expect.unreachable,
    }),
    mapper,
    joinsLines: false,
    onUnsupportedInput: expect.unreachable,
    onRead: () => {},
  })
  return (texts) => {
    for (const text of texts) reader.write(text)
    reader.end()
    batcher.seal()
    return { entries, counts: [account.received, account.filtered, refused] }
  }
}

function expectSame(texts: readonly string[], sizes: Sizes): Read {
  const read = createSubject(sizes, false)(texts)
  expect(read).toEqual(createSubject(sizes, true)(texts))
  return read
}

/** Lines of a few scopes, of which some take breadcrumbs. */
const scopedLine = fc
  .record({
    level: fc.constantFrom(10, 20, 30, 30, 40, 50, 60),
    scope: fc.constantFrom(
      {},
      { reqId: 7 },
      { request_id: '7' },
      { trace_id: 'ab', request_id: '8' },
      { trace_id: 'ab' },
      { session_id: 'é"' },
      { trace_id: 'a'.repeat(32), parent_span_id: 'b'.repeat(16), request_id: '7' },
      { req: { method: 'GET', url: '/', headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } } },
      {
        req: { id: 7, method: 'GET', url: '/', headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } },
      },
    ),
    more: fc.constantFrom({}, { token: 'x' }, { user: { id: 1 } }, { url: 'https://h/?token=abc%20' }, { tags: ['a'] }),
    msg: fc.constantFrom('a', 'the token: abc', '😀', '50 % done'),
  })
  .map(({ level, scope, more, msg }) => JSON.stringify({ level, time: 1795219732486, ...scope, ...more, msg }))
const line = fc.oneof(
  { weight: 8, arbitrary: scopedLine },
  { weight: 2, arbitrary: anyLine },
  { weight: 1, arbitrary: errorLine },
  { weight: 1, arbitrary: fc.constantFrom(...corpus.map(({ raw }) => raw)) },
  { weight: 1, arbitrary: fc.constantFrom('', '\r', ' ', '{"level":30') },
)
const sizes = fc.record({
  size: fc.constantFrom(1, 3, 100),
  bytes: fc.constantFrom(2_000, 1_000_000),
  admitted: fc.constantFrom(0, 0, 2),
})

test('for any lines, in texts that end anywhere', () => {
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 40 }),
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.nat(), { maxLength: 5 }),
      sizes,
      (lines, newline, places, batch) => void expectSame(cutAt(lines.join(newline), places), batch),
    ),
    { numRuns: modelRuns(25, 20_000) },
  )
})

test.each([64 * 1024, 256 * 1024])('for lines of about %i bytes', (bytes) => {
  const text = [-66, -65, -64, -1, 0, 1, 2, 64]
    .flatMap((more) => {
      const head = '{"level":50,"time":1795219732486,"msg":"'
      return [`${head}${'x'.repeat(bytes + more - head.length - 2)}"}`, `${head}short"}`]
    })
    .join('\n')
  const { entries } = expectSame([text], { size: 100, bytes: 1024 * 1024, admitted: 0 })
  expect(entries).toHaveLength(16)
})

test('for an error whose breadcrumbs do not fit, with ids from a header that is asked about', () => {
  const breadcrumb = {
    level: 30,
    time: 1795219732486,
    reqId: 'r1',
    action: 'x',
    msg: `${'m'.repeat(40)}"\\bad\\y${'y'.repeat(3_700)}`,
  }
  const headers = { b3: '80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1' }
  const error = {
    level: 50,
    time: 1795219732486,
    req: { method: 'GET', url: '/', id: 'r1', headers },
    payload: 'p'.repeat(250_000),
    msg: 'boom',
  }
  const lines = [...Array.from({ length: 60 }, () => breadcrumb), error, { ...error, msg: 'next' }]
  const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('')
  expect(expectSame([text], { size: 100, bytes: 1024 * 1024, admitted: 0 }).entries).toHaveLength(62)
})
