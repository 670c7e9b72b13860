/** What a segment's bytes hold, without reading it as batches. */
import { closeSync, fstatSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnFolder } from '../shared/safe-folders.js'
import { CLAIMED, SEGMENT_HEADER_BYTES, hasForeignVersion, isSegment, journalOf } from './format.js'
import { FrameWindow } from './frame-window.js'
import { readJournal } from './journal.js'
import type { Settlement } from './journal.js'
import { MAX_SEGMENT_BYTES, openSegment } from './segment.js'
import { namesIn } from './usage.js'

/** Entries of a segment from an offset on that are not settled. Reads all of it, within a window. @throws the system's errors, UnsafeError */
export function countLeft(path: string, from: number): number {
  const settlements = readJournal(journalOf(path))
  const fd = openSegment(path)
  try {
    const end = Math.min(fstatSync(fd).size, MAX_SEGMENT_BYTES)
    const window = new FrameWindow(from)
    let entries = 0
    for (;;) {
      const found = window.find()
      if (typeof found !== 'number') {
        if (found.kind === 'entries') entries += countOpen(found, settlements.get(found.batchId))
        window.keep(found)
        window.beginBatch()
        continue
      }
      const target = window.reserve(found, end)
      if (target !== undefined) {
        const bytesRead = readSync(fd, target.buffer, target.offset, target.length, target.position)
        if (bytesRead === 0) return entries // truncated since its size was read
        window.filled(bytesRead)
      } else if (window.position >= end) return entries
    }
  } finally {
    closeSync(fd)
  }
}

/** Entries of a stretch that are not settled. */
export function countOpen({ first, count }: { readonly first: number, readonly count: number }, settlement: Settlement | undefined): number {
  if (settlement === undefined) return count
  let entries = 0
  for (let position = first; position < first + count; position += 1) if (!settlement.settled.has(position)) entries += 1
  return entries
}

/** Whether another version of the format wrote it. @throws the system's errors, UnsafeError */
export function isForeignSegment(path: string): boolean {
  const fd = openSegment(path)
  try {
    const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
    return hasForeignVersion(header.subarray(0, readSync(fd, header)))
  } finally {
    closeSync(fd)
  }
}

/** Whether another version of the format wrote there. */
export function hasForeignSegment(folder: string): boolean {
  return namesIn(folder).filter(isSegment).some((name) => {
    try {
      return isForeignSegment(join(folder, name))
    } catch {
      return false // what cannot be read is found when it is to be read
    }
  })
}

/** The same, also in what its owner had claimed, and in what those had. */
export function hasForeignSegmentBelow(folder: string): boolean {
  if (hasForeignSegment(folder)) return true
  const claimed = join(folder, CLAIMED)
  return namesIn(claimed).map((name) => join(claimed, name)).some((one) => isOwnFolder(one) && hasForeignSegmentBelow(one))
}
