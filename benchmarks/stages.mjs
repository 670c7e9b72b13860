/** Each stage of the worker alone, in one thread: CPU of this process in microseconds a record. */
import { setMaxListeners } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import build from 'pino-abstract-transport'
import { Batcher } from '../dist/esm/batch.js'
import { createHttp } from '../dist/esm/client/http.js'
import { systemClock } from '../dist/esm/clock.js'
import { ingestSender } from '../dist/esm/delivery/ingest.js'
import { FastPath } from '../dist/esm/record/fast.js'
import { PINO_LEVELS } from '../dist/esm/record/fields.js'
import { LineSplitter } from '../dist/esm/record/lines.js'
import { Mapper } from '../dist/esm/record/mapper.js'
import { mapByParsing } from '../dist/esm/record/reference.js'
import { withSink } from './children.mjs'
import { SHAPES, chunksOf, linesOf } from './shapes.mjs'
import { Samples } from './statistics.mjs'

/**
 * @typedef {import('./shapes.mjs').Line} Line
 * @typedef {import('./shapes.mjs').Shape} Shape
 * @typedef {import('../dist/esm/sender.js').Batch} Batch
 * @typedef {{ open(): void, map(text: string, start: number, end: number): string, rank: number }} MapsLines
 */

/** @type {import('../dist/esm/record/entry.js').MappingOptions} */
const OPTIONS = {
  messageKey: 'msg', errorKey: 'err', levels: PINO_LEVELS, service: 'shop', environment: 'production', version: '1.0.0',
  tags: [], metadata: {}, fingerprint: false, maxEntryBytes: 256 * 1024,
}
const LIMITS = { batchSize: 100, batchBytes: 1024 * 1024, flushIntervalMs: 1000, clock: systemClock }
/** Long enough for the counter of CPU time, which takes 2 us to read. */
const BLOCK = 1000
const CONCURRENCIES = [4, 32]
const WARM_UP_ROUNDS = 2

/**
 * All passes of all shapes take turns in every round, so that what else the machine does falls on all of them.
 *
 * @param {{ rounds: number, records: number, tell: (line: string) => void }} settings
 * @returns {Promise<Record<Shape, { lineBytes: number, stages: Record<string, import('./statistics.mjs').Spread> }>>}
 */
export function measureStages({ rounds, records, tell }) {
  return withSink(async (url) => {
    const subjects = await Promise.all(Object.keys(SHAPES).map((shape) => subject(/** @type {Shape} */ (shape), records)))
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      tell(round < 0 ? 'stages: warm-up' : `stages: round ${round + 1} of ${rounds}`)
      for (const one of subjects) {
        const samples = round < 0 ? new Samples() : one.samples
        await splitting(one, samples)
        for (const path of round % 2 === 0 ? ['fast', 'reference'] : ['reference', 'fast']) mappingAndBatching(one, path, samples)
        for (const concurrency of CONCURRENCIES) await sending(one, url, concurrency, samples)
      }
    }
    const result = subjects.map(({ shape, lineBytes, samples }) => [shape, { lineBytes, stages: samples.spreads() }])
    return Object.fromEntries(result)
  })
}

/** @param {Shape} shape @param {number} records */
async function subject(shape, records) {
  const chunks = chunksOf(shape, records)
  const lines = linesOf(chunks)
  const lineBytes = Math.round(chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0) / records)
  mustAgree(shape, lines)
  /** @type {Batch[]} */
  const batches = []
  const batcher = new Batcher({ ...LIMITS, onBatch: (batch) => batches.push(batch) })
  const mapper = fastMapper()
  feed(lines, mapper, (json, rank) => batcher.add(json, rank))
  batcher.seal()
  return { shape, chunks, lines, lineBytes, batches, samples: new Samples() }
}

/** Else one path would be measured under the other's name. */
function mustAgree(/** @type {Shape} */ shape, /** @type {readonly Line[]} */ lines) {
  const fast = new FastPath(OPTIONS)
  const reference = referenceMapper()
  for (const { text, start, end } of lines) {
    fast.open()
    if (!fast.map(text, start, end, 0)) throw new Error(`the fast path declines a ${shape} record: ${text.slice(start, end)}`)
    const other = reference.map(text, start, end)
    if (!isDeepStrictEqual(JSON.parse(fast.json), JSON.parse(other))) throw new Error(`the paths differ: ${fast.json}\n${other}`)
  }
}

function fastMapper() {
  return new Mapper(OPTIONS, 0, () => systemClock.wallNow())
}

/** @returns {MapsLines} what `Mapper` does with a line that the fast path declines */
function referenceMapper() {
  return {
    rank: 0,
    open() {},
    map(text, start, end) {
      const { json, rank } = mapByParsing(text.slice(start, end), OPTIONS, new Date(systemClock.wallNow()).toISOString())
      this.rank = rank
      return json
    },
  }
}

/** @param {readonly Line[]} lines @param {MapsLines} mapper @param {(json: string, rank: number) => void} take */
function feed(lines, mapper, take) {
  let open = ''
  for (const { text, start, end } of lines) {
    if (text !== open || start === 0) mapper.open()
    open = text
    take(mapper.map(text, start, end), mapper.rank)
  }
}

/** @param {Awaited<ReturnType<typeof subject>>} of @param {Samples} samples */
async function splitting({ chunks, lines }, samples) {
  const record = (/** @type {string} */ name, /** @type {number} */ us) => samples.add(`splitting: ${name}`, us / lines.length)
  let count = 0
  collectGarbage()
  const from = process.cpuUsage()
  const splitter = new LineSplitter(() => { count += 1 })
  for (const chunk of chunks) splitter.write(chunk)
  splitter.end()
  record('LineSplitter', cpuUs(from))
  mustBe(count, lines.length)
  // pino-abstract-transport parses each line; given a parser that does not, what is left is split2.
  record('split2', await throughFrame(chunks, lines.length, () => NOTHING))
  record('pino-abstract-transport', await throughFrame(chunks, lines.length))
}

const NOTHING = {}

/** @param {readonly string[]} chunks @param {number} expected @param {(line: string) => unknown} [parseLine] */
async function throughFrame(chunks, expected, parseLine) {
  collectGarbage()
  const from = process.cpuUsage()
  let count = 0
  /** @type {import('node:stream').Transform | undefined} */
  let stream
  const ended = new Promise((resolve) => {
    stream = /** @type {any} */ (build((source) => {
      source.on('data', () => { count += 1 })
      source.on('end', resolve)
    }, { parse: 'lines', ...(parseLine !== undefined && { parseLine }) }))
  })
  for (const chunk of chunks) stream?.write(chunk)
  stream?.end()
  await ended
  const us = cpuUs(from)
  mustBe(count, expected)
  return us
}

/**
 * The fast path leaves an entry as pieces, which only the writing puts together: both are measured on the same
 * entries, block by block, so that neither hides a cost in the other.
 *
 * @param {Awaited<ReturnType<typeof subject>>} of @param {string} path @param {Samples} samples
 */
function mappingAndBatching({ lines }, path, samples) {
  const mapper = path === 'fast' ? fastMapper() : referenceMapper()
  let batched = 0
  const batcher = new Batcher({ ...LIMITS, onBatch: (batch) => { batched += batch.count } })
  /** @type {string[]} */
  const entries = []
  let mappingUs = 0
  let batchingUs = 0
  collectGarbage()
  for (let at = 0; at < lines.length; at += BLOCK) {
    const block = lines.slice(at, at + BLOCK)
    const from = process.cpuUsage()
    feed(block, mapper, (json) => entries.push(json))
    const between = process.cpuUsage()
    for (const json of entries) batcher.add(json, 1)
    const until = process.cpuUsage()
    mappingUs += between.user + between.system - from.user - from.system
    batchingUs += until.user + until.system - between.user - between.system
    entries.length = 0
  }
  batcher.seal()
  mustBe(batched, lines.length)
  samples.add(`mapping: ${path}`, mappingUs / lines.length)
  samples.add(`batching: ${path}`, batchingUs / lines.length)
}

/** @param {Awaited<ReturnType<typeof subject>>} of @param {string} url @param {number} concurrency @param {Samples} samples */
async function sending({ batches, lines }, url, concurrency, samples) {
  const http = createHttp({ url, apiKey: 'bench', requestTimeoutMs: 10_000, maxConnections: concurrency })
  const sender = ingestSender({ http, clock: systemClock, compression: 'none' })
  const { signal } = new AbortController()
  setMaxListeners(0, signal) // every request in flight listens to it
  const send = async (/** @type {Batch} */ batch) => {
    const outcome = await sender.send(batch, signal)
    if (outcome.kind !== 'delivered') throw new Error(`the sink did not take a batch: ${outcome.kind}`)
  }
  // Connections are opened once and kept: that is not the cost of a record.
  await Promise.all(batches.slice(0, concurrency).map(send))
  collectGarbage()
  const from = process.cpuUsage()
  const waiting = batches.values()
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const batch of waiting) await send(batch)
  }))
  samples.add(`HTTP: ${concurrency} in flight`, cpuUs(from) / lines.length)
  await http.close()
}

/** @param {NodeJS.CpuUsage} from */
function cpuUs(from) {
  const { user, system } = process.cpuUsage(from)
  return user + system
}

/** One pass's garbage is not the next one's cost. Needs `--expose-gc`. */
function collectGarbage() {
  globalThis.gc?.()
}

/** @param {number} received @param {number} expected */
function mustBe(received, expected) {
  if (received !== expected) throw new Error(`${received} records instead of ${expected}`)
}
