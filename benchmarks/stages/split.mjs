/** Splits chunks into lines: this package, which also encodes them, and pino-abstract-transport. */
import build from 'pino-abstract-transport'
import { LineReader } from '../../build/modules/record/line-reader.js'
import { newMapper } from './configured.mjs'
import { cpuUs, mustBe } from '../tools/measure.mjs'

/** @param {readonly string[]} chunks @param {number} records */
export async function passesOfSplit(chunks, records) {
  return {
    split: ours(chunks, records),
    // It parses every line in both modes. With a parser that does nothing, only the time of split2 remains.
    'split: split2': await frame(chunks, records, { parseLine: () => NOTHING }),
    'split: pino-abstract-transport': await frame(chunks, records, {}),
  }
}

const NOTHING = {}

/** @param {readonly string[]} chunks @param {number} records */
function ours(chunks, records) {
  let count = 0
  const { lines: ring } = newMapper()
  const from = process.cpuUsage()
  const reader = new LineReader({
    ring,
    onLines() {
      for (; reader.hasLines; count += 1) reader.next()
    },
    onLongLine() {},
  })
  for (const chunk of chunks) reader.write(chunk)
  reader.end()
  const us = cpuUs(from)
  mustBe(count, records)
  return us
}

/** @param {readonly string[]} chunks @param {number} records @param {{ parseLine?: (line: string) => unknown }} options */
async function frame(chunks, records, options) {
  let count = 0
  const from = process.cpuUsage()
  await new Promise((resolve) => {
    const onSource = (/** @type {import('node:stream').Transform} */ source) => {
      source.on('data', () => {
        count += 1
      })
      source.on('end', resolve)
      for (const chunk of chunks) source.write(chunk)
      source.end()
    }
    build(/** @type {any} */ (onSource), { parse: 'lines', ...options })
  })
  const us = cpuUs(from)
  mustBe(count, records)
  return us
}
