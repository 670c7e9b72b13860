/** What the numbers are held against. Nothing fails for a number: it is said. */
import { least, most, ratioTo } from '../peers/compare.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('../peers/compare.mjs').Row} Row
 */

/** Entries a second, times the best peer's: the goal, and the aim beyond it. */
const THROUGHPUT = /** @type {Readonly<Record<string, Readonly<Record<Shape, { goal: number, aim: number }>>>>} */ ({
  'spool on': { small: { goal: 1.2, aim: 1.4 }, http: { goal: 1.5, aim: 1.8 }, error: { goal: 1.6, aim: 1.9 } },
  'spool off': { small: { goal: 1.4, aim: 1.6 }, http: { goal: 1.8, aim: 2 }, error: { goal: 1.9, aim: 2 } },
})
/** Times the best peer's. */
const WORKER_CPU = /** @type {Readonly<Record<string, number>>} */ ({ 'spool on': 0.65, 'spool off': 0.5 })

/** @param {Shape} shape @param {readonly Row[]} rows @returns {string[]} */
export function verdict(shape, rows) {
  const peers = rows.filter(({ isPeer }) => isPeer)
  return rows
    .filter(({ isOurs }) => isOurs)
    .flatMap((ours) => {
      const ofOurs = THROUGHPUT[ours.name]
      const atMost = WORKER_CPU[ours.name]
      if (ofOurs === undefined || atMost === undefined) throw new RangeError(`no goal is set for ${ours.name}`)
      const { goal, aim } = ofOurs[shape]
      const lines = [
        ratioTo(
          ours,
          most(peers, 'entriesPerSecond'),
          'entriesPerSecond',
          'entries a second',
          (ratio) => `goal at least ${goal}: ${said(ratio >= goal)}; aim ${aim}: ${said(ratio >= aim)}`,
        ),
        ratioTo(
          ours,
          least(peers, 'workerUs'),
          'workerUs',
          'CPU of the worker thread',
          (ratio) => `goal at most ${atMost}: ${said(ratio <= atMost)}`,
        ),
        ratioTo(ours, least(peers, 'workerAndOthersUs'), 'workerAndOthersUs', "CPU of the worker and V8's threads"),
        ratioTo(
          ours,
          least(peers, 'peakMib'),
          'peakMib',
          'peak memory',
          (ratio) => `goal under every peer's: ${said(ratio < 1)}`,
        ),
      ]
      return lines.filter((line) => line !== undefined)
    })
}

/** @param {boolean} holds */
export function said(holds) {
  return holds ? 'holds' : 'does not hold'
}
