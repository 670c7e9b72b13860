/** Finds the records in complete frames of a spool's segments. Uses none of the tested code. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import zlib from 'node:zlib'

const MAGIC = Buffer.from([0xff, 0x70, 0x69, 0x01])
const HEADER_BYTES = 36
const CRC_FROM = 8

/** Paths of segments below a folder, while other processes move and delete files in it. @param {string} folder @returns {string[]} */
export function segmentsBelow(folder) {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return segmentsBelow(path)
    return entry.name.endsWith('.seg') ? [path] : []
  })
}

/** Numbers of the records in all segments below a folder. @param {string} folder @returns {Set<number>} */
export function recordsBelow(folder) {
  return new Set(
    segmentsBelow(folder).flatMap((path) => recordsIn(unlessGone(() => readFileSync(path)) ?? Buffer.alloc(0))),
  )
}

/** @param {Buffer} bytes @returns {number[]} */
function recordsIn(bytes) {
  const numbers = []
  for (let at = bytes.indexOf(MAGIC); at !== -1 && at + HEADER_BYTES <= bytes.length;) {
    const end = at + HEADER_BYTES + bytes.readUInt32LE(at + 8)
    const isWhole = end <= bytes.length && zlib.crc32(bytes.subarray(at + CRC_FROM, end)) === bytes.readUInt32LE(at + 4)
    if (isWhole)
      for (const [, digits] of bytes.toString('latin1', at + HEADER_BYTES, end).matchAll(/n=(\d+);/g))
        numbers.push(Number(digits))
    at = bytes.indexOf(MAGIC, isWhole ? end : at + 1)
  }
  return numbers
}

/** @param {string} folder */
function entriesOf(folder) {
  return unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? []
}

/** @template T @param {() => T} act @returns {T | undefined} */
function unlessGone(act) {
  try {
    return act()
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined
    throw error
  }
}
