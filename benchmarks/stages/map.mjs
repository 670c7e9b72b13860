/** Lines to entries, by one of the two paths, and to batches. */
import { Batcher } from '../../build/modules/pipeline/batcher.js'
import { systemClock } from '../../build/modules/shared/clock.js'
import { Kernel } from '../../build/modules/record/kernel/kernel.js'
import { MappedRecord } from '../../build/modules/record/mapped-record.js'
import { mapByParsing } from '../../build/modules/record/reference/reference-path.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { MAPPING, SETTINGS, newEntryBuilder, newMapper } from './configured.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Line} Line
 * @typedef {{ beginText(): void, build(text: string, start: number, end: number): { json: string, severity: number } }} MapsLines
 * @typedef {(json: string, severity: number) => void} OnEntry
 */

/** Records after which the passes take turns, so that other load on the machine affects all of them. */
const BLOCK = 1000

/**
 * One pass maps, another maps and batches, and the cost of batching is the difference. Breadcrumbs are measured in the same way.
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
  const declined = new Map(all.map((lines) => [lines, declinedIn(lines)]))
  const run = inBlocks({ map: worker(), batch: worker(), breadcrumbs: newEntryBuilder() })
  return (lines) => {
    const { map = 0, batch = 0, breadcrumbs = 0 } = run(lines)
    return { map, batch: batch - map, breadcrumbs: breadcrumbs - map, declined: declined.get(lines) ?? 0 }
  }
}

/** @param {Record<string, MapsLines>} mappers one pass each; the pass named `batch` also batches @returns {(lines: readonly Line[]) => Record<string, number>} us by pass */
function inBlocks(mappers) {
  const passes = Object.entries(mappers).map(([name, mapper]) => ({ name, pass: new Pass(mapper) }))
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
      // The order changes: later passes find the block in the CPU cache.
      passes.push(/** @type {typeof passes[number]} */ (passes.shift()))
      for (const { name, pass } of passes) pass.run(block, name === 'batch' ? add : look)
    }
    batcher.seal()
    mustBe(count, lines.length)
    if (chars === 0) throw new Error('no entries')
    return Object.fromEntries(passes.map(({ name, pass }) => [name, pass.us]))
  }
}

/** Maps lines with a mapper of its own, chunk by chunk, as the pipeline does. */
class Pass {
  us = 0
  #text = ''
  #mapper

  /** @param {MapsLines} mapper */
  constructor(mapper) {
    this.#mapper = mapper
  }

  /** @param {readonly Line[]} lines @param {OnEntry} onEntry */
  run(lines, onEntry) {
    const from = process.cpuUsage()
    const mapper = this.#mapper
    for (const { text, start, end } of lines) {
      if (text !== this.#text) {
        this.#text = text
        mapper.beginText()
      }
      const { json, severity } = mapper.build(text, start, end)
      onEntry(json, severity)
    }
    this.us += cpuUs(from)
  }
}

/** @returns {MapsLines} the kernel, and the reference path for the lines that it rejects */
function worker() {
  const own = newMapper()
  return {
    beginText() {},
    build: (text, start, end) => own.map(text, start, end),
  }
}

/** @returns {MapsLines} the path of `Mapper` for a line that the kernel rejects */
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

/** The number of lines that the kernel leaves to the reference path. @param {readonly Line[]} lines */
function declinedIn(lines) {
  const kernel = Kernel.create(MAPPING)
  if (kernel === undefined) throw new Error('this runtime has no WebAssembly')
  const record = new MappedRecord()
  let declined = 0
  for (const { text, start, end } of lines) {
    if (!kernel.map(text, start, end, -1, record)) declined += 1
  }
  return declined
}
