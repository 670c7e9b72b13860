/** Lines to entries, by one of the two paths, and entries to batches. */
import { Batcher } from '../dist/esm/batch.js'
import { systemClock } from '../dist/esm/clock.js'
import { FastPath } from '../dist/esm/record/fast.js'
import { PINO_LEVELS } from '../dist/esm/record/fields.js'
import { Mapper } from '../dist/esm/record/mapper.js'
import { mapByParsing } from '../dist/esm/record/reference.js'
import { cpuUs, mustBe } from './measure.mjs'

/**
 * @typedef {import('./shapes.mjs').Line} Line
 * @typedef {import('../dist/esm/sender.js').Batch} Batch
 * @typedef {{ open(): void, map(text: string, start: number, end: number): string, rank: number }} MapsLines
 */

/** @type {import('../dist/esm/record/entry.js').MappingOptions} */
const OPTIONS = {
  messageKey: 'msg', errorKey: 'err', levels: PINO_LEVELS, service: 'shop', environment: 'production', version: '1.0.0',
  tags: [], metadata: {}, fingerprint: false, maxEntryBytes: 256 * 1024,
}
const LIMITS = { batchSize: 100, batchBytes: 1024 * 1024, flushIntervalMs: 1000, clock: systemClock }

/** @param {'fast' | 'reference'} path @param {readonly (readonly Line[])[]} all */
export function passesOfMapping(path, all) {
  const mapper = path === 'fast' ? fastMapper() : referenceMapper()
  if (path === 'fast') for (const lines of all) mustTake(lines)
  return (/** @type {readonly Line[]} */ lines) => {
    let chars = 0
    const from = process.cpuUsage()
    feed(lines, mapper, (json) => { chars += json.length })
    const mappingUs = cpuUs(from)
    if (chars === 0) throw new Error('no entries')
    // The fast path leaves an entry in pieces, which only the writing puts together. So the entries are written as
    // they come, and batching is what the whole then takes longer.
    const between = process.cpuUsage()
    const batches = batchesOf(lines, mapper)
    const bothUs = cpuUs(between)
    mustBe(batches.reduce((sum, batch) => sum + batch.count, 0), lines.length)
    return { [`mapping: ${path}`]: mappingUs, [`batching: ${path}`]: bothUs - mappingUs }
  }
}

/** @param {readonly Line[]} lines */
export function batchesOf(lines, mapper = fastMapper()) {
  /** @type {Batch[]} */
  const batches = []
  const batcher = new Batcher({ ...LIMITS, onBatch: (batch) => batches.push(batch) })
  feed(lines, mapper, (json, rank) => batcher.add(json, rank))
  batcher.seal()
  return batches
}

/** @returns {MapsLines} */
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
  let before = ''
  for (const { text, start, end } of lines) {

    if (text !== before) mapper.open()
    before = text
    take(mapper.map(text, start, end), mapper.rank)
  }
}

/** A line that the fast path declines would be measured under its name. @param {readonly Line[]} lines */
function mustTake(lines) {
  const fast = new FastPath(OPTIONS)
  for (const { text, start, end } of lines) {
    fast.open()
    if (!fast.map(text, start, end, 0)) throw new Error(`the fast path declines ${text.slice(start, end)}`)
  }
}
