/** The scan alone, which is a part of the mapping: every value of a line is found, and no line needs a second look. */
import { findNextSuspect, findValueEnd } from '../../dist/esm/shared/json-scan.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'

/** @param {readonly import('../tools/shapes.mjs').Line[]} lines */
export function passesOfScan(lines) {
  let count = 0
  let last = ''
  let suspect = Infinity
  const from = process.cpuUsage()
  for (const { text, start, end } of lines) {
    // Once for a whole chunk, as the mapper asks.
    if (text !== last) {
      last = text
      suspect = findNextSuspect(text, 0)
    }
    if (suspect >= end && findValueEnd(text, start, end) === end) count += 1
  }
  const us = cpuUs(from)
  mustBe(count, lines.length)
  return { scan: us }
}
