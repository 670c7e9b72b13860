/** Lines to entries, by one of the two paths, and to batches. */
import { Account } from '../../build/modules/diagnostics/account.js'
import { Batcher } from '../../build/modules/pipeline/batcher.js'
import { RecordReader } from '../../build/modules/pipeline/record-reader.js'
import { LineReader } from '../../build/modules/record/line-reader.js'
import { DECLINED_RUN } from '../../build/modules/record/kernel/kernel.js'
import { systemClock } from '../../build/modules/shared/clock.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { SETTINGS, newEntryBuilder, newMapper } from './configured.mjs'

/** @typedef {{ us: number, count: number, write: (text: string) => void, end: () => void }} Pass */

/** Records after which the passes take turns, so that other load on the machine affects all of them. */
const BLOCK = 1000

/**
 * One pass reads, another reads and maps, a third also batches, and the differences are the costs. Breadcrumbs are measured in the same way.
 *
 * @param {'fast' | 'reference'} path
 * @returns {(lines: readonly string[]) => Record<string, number>}
 */
export function passesOfMap(path) {
  const isReference = path === 'reference'
  const run = inBlocks({
    read: readsOnly(),
    map: reads({ isReference }),
    batch: reads({ isReference, isBatched: true }),
    ...(!isReference && { breadcrumbs: reads({ hasBreadcrumbs: true }) }),
  })
  return (lines) => {
    const { read = 0, map = 0, batch = 0, breadcrumbs = 0 } = run(lines)
    if (isReference) return { 'map: reference': map - read, 'batch: reference': batch - map }
    return { map: map - read, batch: batch - map, breadcrumbs: breadcrumbs - map }
  }
}

/** @param {Record<string, Pass>} passes @returns {(lines: readonly string[]) => Record<string, number>} us by pass */
function inBlocks(passes) {
  const order = Object.entries(passes)
  return (lines) => {
    for (const [, pass] of order) pass.us = pass.count = 0
    for (let at = 0; at < lines.length; at += BLOCK) {
      const block = `${lines.slice(at, at + BLOCK).join('\n')}\n`
      // The order changes: later passes find the block in the CPU cache.
      order.push(/** @type {typeof order[number]} */ (order.shift()))
      for (const [, pass] of order) {
        const from = process.cpuUsage()
        pass.write(block)
        pass.us += cpuUs(from)
      }
    }
    for (const [, pass] of order) {
      pass.end()
      mustBe(pass.count, lines.length)
    }
    return Object.fromEntries(order.map(([name, { us }]) => [name, us]))
  }
}

/** Only finds lines, a stage of its own. @returns {Pass} */
function readsOnly() {
  const reader = new LineReader({
    ring: newMapper().lines,
    onLines() {
      for (; reader.hasLines; pass.count += 1) reader.next()
    },
    onLongLine() {},
  })
  const pass = { us: 0, count: 0, write: (/** @type {string} */ text) => reader.write(text), end() {} }
  return pass
}

/** Reads records as the pipeline does. @param {{ isReference?: boolean, isBatched?: boolean, hasBreadcrumbs?: boolean }} what @returns {Pass} */
function reads({ isReference = false, isBatched = false, hasBreadcrumbs = false }) {
  const mapper = newMapper()
  if (isReference) Object.defineProperty(mapper, 'run', { value: () => DECLINED_RUN })
  const batcher = new Batcher({
    ...SETTINGS,
    clock: systemClock,
    onBatch(batch) {
      pass.count += batch.count
    },
  })
  const counter = {
    freeEntries: SETTINGS.batch.size,
    freeBytes: SETTINGS.batch.bytes,
    /** @param {unknown} _entries @param {number} _severity */
    add(_entries, _severity, count = 1) {
      pass.count += count
    },
  }
  const reader = new RecordReader({
    isEnabled: true,
    endpoint: {
      account: new Account(),
      admission: { threshold: 0 },
      batcher: isBatched ? batcher : counter,
      recordNotAdmitted() {},
    },
    entryBuilder: newEntryBuilder(mapper, hasBreadcrumbs),
    mapper,
    joinsLines: false,
    onUnsupportedInput() {},
    onRead() {},
  })
  const pass = { us: 0, count: 0, write: (/** @type {string} */ text) => reader.write(text), end: () => batcher.seal() }
  return pass
}
