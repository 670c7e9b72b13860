/** What a segment's bytes hold, without reading it as batches. */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { SEGMENT_HEADER_BYTES, hasForeignVersion, isSegment } from './format.js'
import { readFrame } from './frame.js'
import type { Settlement } from './journal.js'
import { openSegment } from './segment.js'
import { namesIn } from './usage.js'

/** Entries from an offset on that are not settled. */
export function countLeft(bytes: Buffer, from: number, settlements: ReadonlyMap<string, Settlement>): number {
  let entries = 0
  for (let at = from; at < bytes.length;) {
    const found = readFrame(bytes, at)
    if ('needs' in found) at += 1
    else if ('skip' in found) at += found.skip
    else {
      const { kind, batchId, first, count } = found.frame
      const settled = settlements.get(batchId)?.settled
      if (kind === 'entries') for (let position = first; position < first + count; position += 1) if (!settled?.has(position)) entries += 1
      at += found.frame.bytes
    }
  }
  return entries
}

/** Whether another version of the format wrote there. What cannot be read is found when it is to be read. */
export function hasForeignSegment(folder: string): boolean {
  return namesIn(folder).filter(isSegment).some((name) => {
    let fd: number | undefined
    try {
      fd = openSegment(join(folder, name))
      const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
      return hasForeignVersion(header.subarray(0, readSync(fd, header)))
    } catch {
      return false
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  })
}
