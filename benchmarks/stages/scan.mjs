/** Only the scan, a part of the mapping: finds every value of a line. No line needs the slow path. */
import { findNextSuspect, findValueEnd } from '../../build/modules/shared/json-scan.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'

/** @param {readonly import('../tools/shapes.mjs').Line[]} lines */
export function passesOfScan(lines) {
  let count = 0
  let last = ''
  let suspect = Infinity
  const from = process.cpuUsage()
  for (const { text, start, end } of lines) {
    // Once per chunk, as in the mapper.
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
