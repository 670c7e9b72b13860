/** Lines to entries, by one of the two paths, and to batches. */
import { Batcher } from '../../dist/esm/pipeline/batcher.js'
import { systemClock } from '../../dist/esm/shared/clock.js'
import { FastPath } from '../../dist/esm/record/fast/fast-path.js'
import { mapByParsing } from '../../dist/esm/record/reference/reference-path.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { MAPPING, SETTINGS, newIntake, newMapper } from './configured.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Line} Line
 * @typedef {{ open(): void, take(text: string, start: number, end: number): string, rank: number }} TakesLines
 * @typedef {(json: string, rank: number) => void} OnEntry
 */

/** The passes take turns this often, so that what else the machine does falls on all of them. */
const BLOCK = 1000

/**
 * The fast path leaves an entry in pieces, which only the writing puts together. So one pass maps, another maps and
 * batches, and batching is what that takes longer. In the same way with the trail.
 *
 * @param {'fast' | 'reference'} path @param {readonly (readonly Line[])[]} all
 * @returns {(lines: readonly Line[]) => Record<string, number>}
 */
export function passesOfMap(path, all) {
  if (path === 'reference') {
    const run = inBlocks({ map: referencePath(), batch: referencePath() })
    return (lines) => {
      const { map = 0, batch = 0 } = run(lines)
      return { 'map: reference': map, 'batch: reference': batch - map }
    }
  }
  for (const lines of all) mustTake(lines)
  const run = inBlocks({ map: fastPath(), batch: fastPath(), trail: newIntake() })
  return (lines) => {
    const { map = 0, batch = 0, trail = 0 } = run(lines)
    return { map, batch: batch - map, trail: trail - map }
  }
}

/** @param {Record<string, TakesLines>} takers each a pass of its own; the one that is called `batch` batches @returns {(lines: readonly Line[]) => Record<string, number>} us by pass */
function inBlocks(takers) {
  const passes = Object.entries(takers).map(([name, taker]) => ({ name, pass: new Pass(taker) }))
  return (lines) => {
    let chars = 0
    let count = 0
    const batcher = new Batcher({
      ...SETTINGS,
      clock: systemClock,
      onBatch: (batch) => {
        count += batch.count
      },
    })
    /** @type {OnEntry} */
    const add = (json, rank) => batcher.add(json, rank)
    /** @type {OnEntry} */
    const look = (json) => {
      chars += json.length
    }
    for (const { pass } of passes) pass.us = 0
    for (let at = 0; at < lines.length; at += BLOCK) {
      const block = lines.slice(at, at + BLOCK)
      // Whoever comes later finds the block in the processor's cache.
      passes.push(/** @type {typeof passes[number]} */ (passes.shift()))
      for (const { name, pass } of passes) pass.run(block, name === 'batch' ? add : look)
    }
    batcher.seal()
    mustBe(count, lines.length)
    if (chars === 0) throw new Error('no entries')
    return Object.fromEntries(passes.map(({ name, pass }) => [name, pass.us]))
  }
}

/** Lines through a taker of its own, chunk after chunk, as the pipeline does. */
class Pass {
  us = 0
  #text = ''
  #taker

  /** @param {TakesLines} taker */
  constructor(taker) {
    this.#taker = taker
  }

  /** @param {readonly Line[]} lines @param {OnEntry} onEntry */
  run(lines, onEntry) {
    const from = process.cpuUsage()
    const taker = this.#taker
    for (const { text, start, end } of lines) {
      if (text !== this.#text) {
        this.#text = text
        taker.open()
      }
      const json = taker.take(text, start, end)
      onEntry(json, taker.rank)
    }
    this.us += cpuUs(from)
  }
}

/** @returns {TakesLines} */
function fastPath() {
  const mapper = newMapper()
  return {
    open: () => mapper.open(),
    take: (text, start, end) => mapper.map(text, start, end),
    get rank() {
      return mapper.rank
    },
  }
}

/** @returns {TakesLines} what `Mapper` does with a line that the fast path declines */
function referencePath() {
  return {
    rank: 0,
    open() {},
    take(text, start, end) {
      const { json, level } = mapByParsing(
        text.slice(start, end),
        MAPPING,
        new Date(systemClock.wallNow()).toISOString(),
      )
      this.rank = level.rank
      return json
    },
  }
}

/** A line that the fast path declines would be measured under its name. @param {readonly Line[]} lines */
function mustTake(lines) {
  const fast = new FastPath(MAPPING)
  let last = ''
  for (const { text, start, end } of lines) {
    if (text !== last) fast.open()
    last = text
    if (!fast.map(text, start, end, -1)) throw new Error(`the fast path declines ${text.slice(start, end)}`)
  }
}
