/** Batches and positions for the text of a file: after a kill nothing is missing, and few entries are sent twice. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Account } from '../../../src/diagnostics/account.js'
import { Batcher } from '../../../src/pipeline/batcher.js'
import { FilePositionLog } from '../../../src/cli/send/file-position-log.js'
import { computeDigest, createState } from '../../../src/cli/send/checkpoint.js'
import type { Counts, Position } from '../../../src/cli/send/checkpoint.js'
import { findResumePosition } from '../../../src/cli/send/file-reader.js'
import { TextFeed } from '../../../src/cli/send/text-feed.js'
import { parseBatchEntries } from '../../../src/batch/sub-batch.js'
import { createReader, createRing, createUnwrapper } from '../../record/create-ring.js'
import type { Batch } from '../../../src/batch/batch.js'
import { FakeClock } from '../../fake-clock.js'
import { modelRuns } from '../../model-runs.js'

const NAMESPACE = '6ba7b810-9dad-51d1-80b4-00c04fd430c8'
const START: Position = { offset: 0, lineStart: 0, tail: Buffer.alloc(0) }

const ring = createRing()

interface Plan {
  /** Sizes of the blocks. */
  readonly sizes: readonly number[]
  readonly batchSize: number
  readonly batchBytes: number
  /** Maximum number of batches, counted from the first unacknowledged one. */
  readonly window: number
  /** Index of the batch in flight that is acknowledged next. After the last one the run is killed. Default: all, in order. */
  readonly replies?: readonly number[]
}

interface Run {
  readonly acknowledged: readonly Batch[]
  readonly inFlight: readonly Batch[]
  /** Content of the checkpoint. */
  readonly position: Position
  readonly counts: Counts
}

/** Two records, or the beginning of one. */
const IS_DIVISIBLE = /^\{.+\}\{|^\{[^}]*$/

/** A pipeline in which each line is an entry. Lines that start with `-` are filtered. */
function createPipeline(log: FilePositionLog, { batchSize, batchBytes }: Plan, onBatch: (batch: Batch) => void) {
  const account = new Account()
  const newId = (): string => log.newBatchId()
  const batcher = new Batcher({
    batch: { size: batchSize, intervalMs: 1_000 },
    clock: new FakeClock(),
    log,
    newId,
    onBatch,
  })
  batcher.limitBytes(batchBytes)
  const unwrapper = createUnwrapper(ring, (line) => {
    // As for a line that is not one record.
    if (IS_DIVISIBLE.test(line.text) && !line.isPart) return unwrapper.divide(line.text)
    account.received += 1
    if (line.text.startsWith('-')) account.filtered += 1
    else batcher.add(JSON.stringify(line.text), 1)
  })
  const lines = createReader(unwrapper.add, { ring })
  const write = (text: string): void => {
    lines.write(text)
    batcher.commit()
  }
  const flushLines = (): void => {
    unwrapper.flush()
    batcher.commit()
  }
  const endInput = (): void => {
    lines.end()
    unwrapper.end()
    batcher.seal()
  }
  return { account, records: { write, flushLines, unwrapper }, endInput }
}

function run(content: Buffer, plan: Plan, from = START): Run {
  const inFlight: Batch[] = []
  const acknowledged: Batch[] = []
  let position = from
  let counts: Counts = { accepted: 0, rejected: 0, filtered: 0 }
  const log = new FilePositionLog(plan.window, () => {})
  const pipeline = createPipeline(log, plan, (batch) => inFlight.push(batch))
  const add = (more: Counts, reached: Position | undefined): void => {
    counts = {
      accepted: counts.accepted + more.accepted,
      rejected: counts.rejected + more.rejected,
      filtered: counts.filtered + more.filtered,
    }
    position = reached ?? position
  }
  log.beginSource({ namespace: NAMESPACE, recordTimeMs: () => 0, acknowledge: add }, from.offset)
  const feed = new TextFeed({ pipeline, log, batchSize: plan.batchSize }, from)
  const replies = [...(plan.replies ?? [])]
  const reply = (): boolean => {
    const which = plan.replies === undefined ? 0 : replies.shift()
    const [batch] = which === undefined ? [] : inFlight.splice(which % Math.max(inFlight.length, 1), 1)
    if (batch === undefined) return false
    acknowledged.push(batch)
    batch.acknowledgement?.acknowledge()
    return true
  }
  const result = (): Run => ({ acknowledged, inFlight, position, counts })
  for (let at = from.offset, turn = 0; at < content.length; turn += 1) {
    // Blocks share one buffer, as when reading a file.
    const block = Buffer.from(content.subarray(at, at + (plan.sizes[turn % plan.sizes.length] ?? 1)))
    at += block.length
    for (let start = 0; start < block.length;) {
      while (feed.openEntries === 0 && !log.hasRoom) if (!reply()) return result()
      start = feed.write(block, start)
    }
    block.fill(0)
  }
  feed.end(true)
  while (reply());
  return result()
}

function entriesIn(batches: readonly Batch[]): string[] {
  return batches.flatMap(({ body }) => parseBatchEntries(body)).map((entry) => JSON.parse(entry) as string)
}

const RECORD = '{"level":30,"time":"_"}'
const HALVES = ['{"level":30,"x_":1,"ti', 'me":"_"}']
const PART = '2026-11-28T10:00:00Z stdout P '
/** `_` is the number of the line. */
const LINES = ['a_', 'é✓_', '', `${'x'.repeat(40)}_`, RECORD, RECORD.repeat(2), ...HALVES]
const LAST = PART.replace('P', 'F')
const WRAPPED = [`${PART}p_;`, `${LAST}f_;`, 'web-1  | w_', '{"log":"l_;","stream":"stdout"}']
const INDENTED = ['-', '\r_', ' b_', '  c_', '}_']

function contentOf(...lines: readonly string[]): fc.Arbitrary<Buffer> {
  const numbered = fc
    .array(fc.constantFrom(...lines), { maxLength: 40 })
    .map((some) => some.map((line, at) => line.replaceAll('_', String(at))).join('\n'))
  return fc.tuple(numbered, fc.constantFrom('', '\n')).map((texts) => Buffer.from(texts.join('')))
}

/** Some lines have more bytes than characters, some are filtered, indented, wrapped, or several records. */
const someContent = fc.oneof(
  contentOf(...LINES, ...INDENTED),
  contentOf(
    ...WRAPPED,
    ...HALVES.map((half) => LAST + half),
    '',
    LINES[4] as string,
    'web-1  |  i_',
    `${PART.replace('out', 'err')}e_;`,
  ),
)

const somePlan: fc.Arbitrary<Plan> = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
  batchSize: fc.integer({ min: 1, max: 5 }),
  batchBytes: fc.constantFrom(100, 150, 1_000_000),
  window: fc.integer({ min: 1, max: 4 }),
})

/** The joined lines. */
function blocksOf(content: Buffer): string[] {
  const blocks: string[] = []
  const unwrapper = createUnwrapper(ring, (line) => {
    if (IS_DIVISIBLE.test(line.text) && !line.isPart) return unwrapper.divide(line.text)
    blocks.push(line.text)
  })
  const reader = createReader(unwrapper.add, { ring })
  reader.write(content.toString())
  reader.end()
  unwrapper.end()
  return blocks
}

function linesOf(content: Buffer): string[] {
  return blocksOf(content).filter((block) => !block.startsWith('-'))
}

test('each line is sent once, in order, and the position at the end is the end', () => {
  fc.assert(
    fc.property(someContent, somePlan, (content, plan) => {
      const { acknowledged, position, counts } = run(content, plan)
      expect(entriesIn(acknowledged)).toEqual(linesOf(content))
      expect(position.offset).toBe(content.length)
      expect(counts.accepted).toBe(linesOf(content).length)
      expect(counts.filtered).toBe(blocksOf(content).filter((block) => block.startsWith('-')).length)
      expect(position.tail.equals(content.subarray(-1024))).toBe(true)
    }),
    { numRuns: modelRuns(300, 3_000) },
  )
})

test('after a kill the next run sends the rest; only batches within the window are repeated, with the same batch id', () => {
  let bounded = 0
  fc.assert(
    fc.property(someContent, somePlan, fc.array(fc.nat(3), { maxLength: 12 }), (content, plan, replies) => {
      const first = run(content, { ...plan, replies })
      const second = run(content, plan, first.position)
      const all = [...entriesIn(first.acknowledged), ...entriesIn(second.acknowledged)]
      expect(new Set(all)).toEqual(new Set(linesOf(content)))
      const bodies = new Map(second.acknowledged.map(({ batchId, body }) => [batchId, body]))
      const again = new Set(entriesIn(second.acknowledged))
      // Batches in flight may have been accepted.
      const repeated = [...first.acknowledged, ...first.inFlight].filter((batch) =>
        entriesIn([batch]).some((entry) => again.has(entry)),
      )
      for (const { batchId, body } of repeated) expect(Buffer.from(bodies.get(batchId) ?? []).equals(body)).toBe(true)
      // A block may have several entries, and all its batches are sent at once.
      const isPlain = !/\n[ \r}]|\}\{|std|web|ti\n/.test(content.toString())
      if (plan.batchBytes > 1_000 && isPlain) {
        bounded += 1
        expect(repeated.length).toBeLessThanOrEqual(plan.window)
      }
    }),
    { numRuns: modelRuns(500, 5_000) },
  )
  expect(bounded).toBeGreaterThan(10)
})

test('if the file grows after a kill, a batch id is never used again for other content', () => {
  fc.assert(
    fc.property(someContent, somePlan, fc.array(fc.nat(3), { maxLength: 12 }), (content, plan, replies) => {
      const whole = Buffer.concat([content, Buffer.from(content.at(-1) === 10 ? '' : '\n')])
      const first = run(whole, { ...plan, replies })
      const second = run(Buffer.concat([whole, Buffer.from('more\n'.repeat(6))]), plan, first.position)
      const bodies = new Map(second.acknowledged.map(({ batchId, body }) => [batchId, Buffer.from(body)]))
      for (const { batchId, body } of [...first.acknowledged, ...first.inFlight]) {
        expect(bodies.get(batchId)?.equals(body)).not.toBe(false)
      }
    }),
    { numRuns: modelRuns(300, 3_000) },
  )
})

test('a file that grows after any byte: each line is sent once, but for an unfinished one', async () => {
  const someSize = fc.nat().map((size) => (length: number) => size % (length + 1))
  await fc.assert(
    fc.asyncProperty(contentOf(...LINES, ...WRAPPED), somePlan, someSize, async (content, plan, sizeOf) => {
      const known = content.subarray(0, sizeOf(content.length))
      // A newline ends the line, so it is not read again.
      fc.pre(content[known.length] !== 10)
      const first = run(known, plan)
      const { offset, lineStart, tail } = first.position
      const readBlocks = async function* (from: number): AsyncGenerator<Buffer> {
        yield content.subarray(from)
      }
      const state = { ...createState(), offset, lineStart, tailBytes: tail.length, tailHash: computeDigest(tail) }
      const resumed = await findResumePosition({ name: '', isGzip: false, readBlocks, close: async () => {} }, state)
      const second = run(content, plan, resumed)
      const sent = [...entriesIn(first.acknowledged), ...entriesIn(second.acknowledged)]
      // What was sent of the unfinished line is sent again.
      const unfinished = (resumed?.offset ?? 0) < offset ? linesOf(known.subarray(lineStart)) : []
      expect(sent.toSorted()).toEqual([...linesOf(content), ...unfinished].toSorted())
    }),
    { numRuns: modelRuns(300, 5_000) },
  )
})
