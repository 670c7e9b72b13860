/** Lines to entries, by one of the two paths, and entries to batches. */
import { Batcher } from '../../dist/esm/batch.js'
import { systemClock } from '../../dist/esm/clock.js'
import { FastPath } from '../../dist/esm/record/fast.js'
import { PINO_LEVELS } from '../../dist/esm/record/fields.js'
import { Mapper } from '../../dist/esm/record/mapper.js'
import { mapByParsing } from '../../dist/esm/record/reference.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Line} Line
 * @typedef {import('../../dist/esm/sender.js').Batch} Batch
 * @typedef {{ open(): void, map(text: string, start: number, end: number): string, rank: number }} MapsLines
 */

/** @type {import('../../dist/esm/record/entry.js').MappingOptions} */
const OPTIONS = {
  messageKey: 'msg', errorKey: 'err', levels: PINO_LEVELS, service: 'shop', environment: 'production', version: '1.0.0',
  tags: [], metadata: {}, fingerprint: false, maxEntryBytes: 256 * 1024,
}
const LIMITS = { batchSize: 100, batchBytes: 1024 * 1024, flushIntervalMs: 1000, clock: systemClock }

/** The two passes take turns this often, so that what else the machine does falls on both. */
const BLOCK = 1000

/**
 * The fast path leaves an entry in pieces, which only the writing puts together. So one pass maps, another maps and
 * batches, and batching is what that takes longer.
 *
 * @param {'fast' | 'reference'} path @param {readonly (readonly Line[])[]} all
 */
export function passesOfMapping(path, all) {
  if (path === 'fast') for (const lines of all) mustTake(lines)
  const make = path === 'fast' ? fastMapper : referenceMapper
  const mapping = new Pass(make())
  const both = new Pass(make())
  return (/** @type {readonly Line[]} */ lines) => {
    let chars = 0
    let count = 0
    const batcher = new Batcher({ ...LIMITS, onBatch: (batch) => { count += batch.count } })
    const map = (/** @type {readonly Line[]} */ block) => mapping.run(block, (json) => { chars += json.length })
    const mapAndBatch = (/** @type {readonly Line[]} */ block) => both.run(block, (json, rank) => batcher.add(json, rank))
    mapping.us = both.us = 0
    for (let at = 0; at < lines.length; at += BLOCK) {
      const block = lines.slice(at, at + BLOCK)
      // Whoever comes second finds the block in the processor's cache.
      for (const pass of at / BLOCK % 2 === 0 ? [map, mapAndBatch] : [mapAndBatch, map]) pass(block)
    }
    batcher.seal()
    mustBe(count, lines.length)
    if (chars === 0) throw new Error('no entries')
    return { [`mapping: ${path}`]: mapping.us, [`batching: ${path}`]: both.us - mapping.us }
  }
}

/** @param {readonly Line[]} lines */
export function batchesOf(lines) {
  /** @type {Batch[]} */
  const batches = []
  const batcher = new Batcher({ ...LIMITS, onBatch: (batch) => batches.push(batch) })
  new Pass(fastMapper()).run(lines, (json, rank) => batcher.add(json, rank))
  batcher.seal()
  return batches
}

/** Lines through a mapper of its own, chunk after chunk, as the pipeline does. */
class Pass {
  us = 0
  #text = ''
  #mapper

  /** @param {MapsLines} mapper */
  constructor(mapper) {
    this.#mapper = mapper
  }

  /** @param {readonly Line[]} lines @param {(json: string, rank: number) => void} take */
  run(lines, take) {
    const from = process.cpuUsage()
    const mapper = this.#mapper
    for (const { text, start, end } of lines) {
      if (text !== this.#text) {
        this.#text = text
        mapper.open()
      }
      take(mapper.map(text, start, end), mapper.rank)
    }
    this.us += cpuUs(from)
  }
}

/** @returns {MapsLines} */
function fastMapper() {
  return new Mapper(OPTIONS, -1, () => systemClock.wallNow())
}

/** @returns {MapsLines} what `Mapper` does with a line that the fast path declines */
function referenceMapper() {
  return {
    rank: 0,
    open() {},
    map(text, start, end) {
      const { json, level } = mapByParsing(text.slice(start, end), OPTIONS, new Date(systemClock.wallNow()).toISOString())
      this.rank = level.rank
      return json
    },
  }
}

/** A line that the fast path declines would be measured under its name. @param {readonly Line[]} lines */
function mustTake(lines) {
  const fast = new FastPath(OPTIONS)
  for (const { text, start, end } of lines) {
    fast.open()
    if (!fast.map(text, start, end, -1)) throw new Error(`the fast path declines ${text.slice(start, end)}`)
  }
}
