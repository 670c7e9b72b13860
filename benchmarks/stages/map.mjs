/** Lines to entries, by one of the two paths, and to batches. */
import { Batcher } from '../../build/modules/pipeline/batcher.js'
import { systemClock } from '../../build/modules/shared/clock.js'
import { LineReader } from '../../build/modules/record/line-reader.js'
import { mapByParsing } from '../../build/modules/record/reference/reference-path.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { MAPPING, SETTINGS, newEntryBuilder, newMapper } from './configured.mjs'

/**
 * @typedef {import('../../src/record/line-ring.js').Line} Line
 * @typedef {import('../../src/record/mapped-record.js').EntryBytes} EntryBytes
 * @typedef {{ bytes?: EntryBytes | undefined, json: string, severity: number }} Mapped
 * @typedef {object} MapsLines
 * @property {import('../../src/record/mapper.js').Mapper} mapper
 * @property {() => void} beginText
 * @property {(line: Line) => Mapped} build
 * @typedef {(entry: string | EntryBytes, severity: number) => void} OnEntry
 */

/** Records after which the passes take turns, so that other load on the machine affects all of them. */
const BLOCK = 1000

/**
 * One pass reads, another reads and maps, a third also batches, and the differences are the costs. Breadcrumbs are measured in the same way.
 *
 * @param {'fast' | 'reference'} path @param {readonly (readonly string[])[]} all
 * @returns {(lines: readonly string[]) => Record<string, number>}
 */
export function passesOfMap(path, all) {
  if (path === 'reference') {
    const run = inBlocks({ read: reader(), map: referencePath(), batch: referencePath() })
    return (lines) => {
      const { read = 0, map = 0, batch = 0 } = run(lines)
      return { 'map: reference': map - read, 'batch: reference': batch - map }
    }
  }
  const declined = new Map(all.map((lines) => [lines, declinedIn(lines)]))
  const run = inBlocks({ read: reader(), map: worker(), batch: worker(), breadcrumbs: withBreadcrumbs() })
  return (lines) => {
    const { read = 0, map = 0, batch = 0, breadcrumbs = 0 } = run(lines)
    return { map: map - read, batch: batch - map, breadcrumbs: breadcrumbs - map, declined: declined.get(lines) ?? 0 }
  }
}

/** @param {Record<string, MapsLines>} mappers one pass each; the pass named `batch` also batches @returns {(lines: readonly string[]) => Record<string, number>} us by pass */
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
    const add = (entry, severity) => batcher.add(entry, severity)
    /** @type {OnEntry} */
    const look = (entry) => {
      chars += typeof entry === 'string' ? entry.length : entry.end - entry.start
    }
    for (const { pass } of passes) pass.us = 0
    for (let at = 0; at < lines.length; at += BLOCK) {
      const block = `${lines.slice(at, at + BLOCK).join('\n')}\n`
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

/** Reads and maps lines with a mapper of its own, as the pipeline does. */
class Pass {
  us = 0
  #lines
  #maps
  /** @type {OnEntry} */
  #onEntry = () => {}

  /** @param {MapsLines} maps */
  constructor(maps) {
    this.#maps = maps
    this.#lines = new LineReader(maps.mapper.lines, (line) => {
      const record = maps.build(line)
      this.#onEntry(record.bytes ?? record.json, Math.max(0, record.severity))
    })
  }

  /** @param {string} text @param {OnEntry} onEntry */
  run(text, onEntry) {
    const from = process.cpuUsage()
    this.#onEntry = onEntry
    this.#maps.beginText()
    this.#lines.write(text)
    this.us += cpuUs(from)
  }
}

/** Only reads lines, a stage of its own. @returns {MapsLines} */
function reader() {
  return { mapper: newMapper(), beginText() {}, build: () => ({ json: '', severity: 0 }) }
}

/** @returns {MapsLines} the kernel, and the reference path for the lines that it rejects */
function worker() {
  const mapper = newMapper()
  return { mapper, beginText() {}, build: (line) => mapper.map(line) }
}

/** @returns {MapsLines} */
function withBreadcrumbs() {
  const mapper = newMapper()
  const builder = newEntryBuilder(mapper)
  return { mapper, beginText: () => builder.beginText(), build: (line) => builder.build(line) }
}

/** @returns {MapsLines} the path of `Mapper` for a line that the kernel rejects */
function referencePath() {
  return {
    mapper: newMapper(),
    beginText() {},
    build({ text }) {
      const receivedAt = new Date(systemClock.wallNow()).toISOString()
      const { json, level } = mapByParsing(text, MAPPING, receivedAt)
      return { json, severity: level.severity }
    },
  }
}

/** The number of lines that the kernel leaves to the reference path. @param {readonly string[]} lines */
function declinedIn(lines) {
  const mapper = newMapper()
  return lines.filter((line) => !mapper.map(mapper.lines.place(line)).isMappedByKernel).length
}
