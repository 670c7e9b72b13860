/** Lines to entries, by one of the two paths, and to batches. */
import { Batcher } from '../../dist/esm/pipeline/batcher.js'
import { systemClock } from '../../dist/esm/shared/clock.js'
import { FastPath } from '../../dist/esm/record/fast/fast-path.js'
import { createMappedRecord } from '../../dist/esm/record/mapped-record.js'
import { mapByParsing } from '../../dist/esm/record/reference/reference-path.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { MAPPING, SETTINGS, newIntake, newMapper } from './configured.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Line} Line
 * @typedef {{ beginText(): void, build(text: string, start: number, end: number): { json: string, severity: number } }} MapsLines
 * @typedef {(json: string, severity: number) => void} OnEntry
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

/** @param {Record<string, MapsLines>} takers each a pass of its own; the one that is called `batch` batches @returns {(lines: readonly Line[]) => Record<string, number>} us by pass */
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
    const add = (json, severity) => batcher.add(json, severity)
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

  /** @param {MapsLines} taker */
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
        taker.beginText()
      }
      const { json, severity } = taker.build(text, start, end)
      onEntry(json, severity)
    }
    this.us += cpuUs(from)
  }
}

/** @returns {MapsLines} */
function fastPath() {
  const mapper = newMapper()
  return {
    beginText: () => mapper.beginText(),
    build: (text, start, end) => mapper.map(text, start, end),
  }
}

/** @returns {MapsLines} what `Mapper` does with a line that the fast path declines */
function referencePath() {
  return {
    beginText() {},
    build(text, start, end) {
      const receivedAt = new Date(systemClock.wallNow()).toISOString()
      const { json, level } = mapByParsing(text.slice(start, end), MAPPING, receivedAt)
      return { json, severity: level.severity }
    },
  }
}

/** A line that the fast path declines would be measured under its name. @param {readonly Line[]} lines */
function mustTake(lines) {
  const fast = new FastPath(MAPPING)
  const record = createMappedRecord()
  let last = ''
  for (const { text, start, end } of lines) {
    if (text !== last) fast.beginText()
    last = text
    if (!fast.map(text, start, end, -1, record)) throw new Error(`the fast path declines ${text.slice(start, end)}`)
  }
}
