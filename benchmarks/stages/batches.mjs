/** Creates batches from lines, without timing: the input of the stages after the batcher. */
import { Batcher } from '../../build/modules/pipeline/batcher.js'
import { systemClock } from '../../build/modules/shared/clock.js'
import { SETTINGS, newMapper } from './configured.mjs'

/**
 * @typedef {import('../../src/batch/batch.js').Batch} Batch
 * @typedef {{ batchId: string, first: number, count: number, severity: number, text: Buffer }} Piece entries that the batcher logs together
 */

/** @param {readonly string[]} lines @returns {{ batch: Batch, pieces: Piece[] }[]} */
export function batchesOf(lines) {
  /** @type {{ batch: Batch, pieces: Piece[] }[]} */
  const batches = []
  /** @type {Piece[]} */
  let pieces = []
  const log = {
    append: (
      /** @type {string} */ batchId,
      /** @type {number} */ first,
      /** @type {number} */ count,
      /** @type {number} */ severity,
      /** @type {Uint8Array} */ text,
    ) => {
      pieces.push({ batchId, first, count, severity, text: Buffer.from(text) })
    },
    flush() {},
    seal: (/** @type {Batch} */ batch) => batch,
  }
  const batcher = new Batcher({
    ...SETTINGS,
    clock: systemClock,
    log,
    onBatch: (batch) => {
      batches.push({ batch, pieces })
      pieces = []
    },
  })
  const mapper = newMapper()
  for (const line of lines) {
    const { json, severity } = mapper.map(mapper.lines.place(line))
    batcher.add(json, severity)
  }
  batcher.seal()
  return batches
}
