/** Batches to frames, and frames to a real file, settled in its acknowledgement log; a settled segment is deleted. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HEADER_BYTES, parseUuid, writeFrame } from '../../build/modules/spool/segment/frame.js'
import { createAcknowledgement } from '../../build/modules/spool/segment/segment-acknowledgement.js'
import { SegmentWriter } from '../../build/modules/spool/segment/segment-writer.js'
import { Segment } from '../../build/modules/spool/segment/segment.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { batchesOf } from './batches.mjs'

/** @typedef {ReturnType<typeof batchesOf>} Batches */

/** See `src/spool/README.md`. */
const SEGMENT_BYTES = 4 * 1024 * 1024
const NOTHING = Buffer.alloc(0)

/** @param {readonly import('../tools/shapes.mjs').Line[]} lines */
export function passesOfDisk(lines) {
  const batches = batchesOf(lines)
  const { us: frame, framed } = frames(batches)
  return { frame, ...writes(batches, framed) }
}

/** @param {Batches} batches */
function frames(batches) {
  const most = Math.max(...batches.map(sizeOf))
  const into = Buffer.allocUnsafeSlow(most)
  const framed = []
  let us = 0
  for (const {
    batch: { batchId, count },
    pieces,
  } of batches) {
    const from = process.cpuUsage()
    const id = parseUuid(batchId)
    let at = 0
    for (const piece of pieces)
      at = writeFrame(into, at, {
        kind: 'entries',
        id,
        severity: piece.severity,
        count: piece.count,
        first: piece.first,
        text: piece.text,
      })
    at = writeFrame(into, at, { kind: 'seal', id, severity: 0, count, first: 0, text: NOTHING })
    us += cpuUs(from)
    framed.push(Buffer.from(into.subarray(0, at)))
  }
  mustBe(framed.length, batches.length)
  return { us, framed }
}

/** @param {Batches[number]} batch */
function sizeOf({ pieces }) {
  return pieces.reduce((sum, { text }) => sum + HEADER_BYTES + text.length, HEADER_BYTES)
}

/** @param {Batches} batches @param {readonly Buffer[]} framed */
function writes(batches, framed) {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-bench-'))
  const onError = (/** @type {unknown} */ error) => {
    throw error
  }
  const passes = { write: 0, settle: 0 }
  let number = 0
  try {
    for (let next = 0; next < framed.length;) {
      const first = next
      const before = process.cpuUsage()
      const segment = new Segment(folder, (number += 1), { onError })
      const writer = new SegmentWriter(segment, { createdAtMs: 0, isPowerSafe: false, onUnsynced: onError })
      for (; next < framed.length && segment.writtenBytes < SEGMENT_BYTES; next += 1) {
        writer.write(/** @type {Buffer} */ (framed[next]))
        segment.add(/** @type {Batches[number]} */ (batches[next]).batch.count)
      }
      writer.close()
      segment.complete()
      passes.write += cpuUs(before)
      const written = process.cpuUsage()
      for (const {
        batch: { batchId, count },
      } of batches.slice(first, next))
        createAcknowledgement(segment, parseUuid(batchId), count).acknowledge()
      passes.settle += cpuUs(written)
    }
    mustBe(readdirSync(folder).length, 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return passes
}
