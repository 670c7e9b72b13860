/** End to end: an application, pino's worker with the real transport, and a sink, in real processes. */
import { start, withSink } from '../tools/children.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'

/** @typedef {{ recordsPerSecond: number, mainUs: number, workerUs: number, othersUs: number }} Run */

/**
 * @param {{ rounds: number, records: number, tell: (line: string) => void }} settings
 * @returns {Promise<Record<import('../tools/shapes.mjs').Shape, Record<string, import('../tools/statistics.mjs').Spread>>>}
 */
export function measureWorker({ rounds, records, tell }) {
  return withSink(async (url) => {
    const samples = new Map(Object.keys(SHAPES).map((shape) => [shape, new Samples()]))
    for (let round = 0; round < rounds; round += 1) {
      tell(`worker: round ${round + 1} of ${rounds}`)
      for (const [shape, ofShape] of samples) {
        for (const path of round % 2 === 0 ? ['fast', 'reference'] : ['reference', 'fast']) {
          /** @type {Run} */
          const run = await start(new URL('./app.mjs', import.meta.url), [shape, path, url, String(records)]).first
          for (const [name, value] of Object.entries(run)) ofShape.add(`${path}: ${name}`, value)
        }
      }
    }
    return /** @type {any} */ (Object.fromEntries([...samples].map(([shape, ofShape]) => [shape, ofShape.spreads()])))
  })
}
