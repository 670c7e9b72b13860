/** What does the spool cost of the worker's time per record? On against off in one run, on the real file system, at defaults. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start, withSink } from '../tools/children.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'

const MIB = 1024 * 1024

/** Two waves of so many records wait for their acknowledgement: 3 to 6 MiB, between the two values of `maxBufferBytes`. */
const WAVES = { small: 5_000, http: 3_000, error: 1_500 }
const VARIANTS = /** @type {const} */ (['off', 'on', 'above maxBufferBytes', 'power'])

/**
 * @param {{ rounds: number, records: number, tell: (line: string) => void }} settings
 * @returns {Promise<Record<import('../tools/shapes.mjs').Shape, Record<string, import('../tools/statistics.mjs').Spread>>>}
 */
export function measureSpool({ rounds, records, tell }) {
  return withSink(async (url) => {
    const shapes = /** @type {import('../tools/shapes.mjs').Shape[]} */ (Object.keys(SHAPES))
    const samples = new Map(shapes.map((shape) => [shape, new Samples()]))
    for (let round = 0; round < rounds; round += 1) {
      tell(`spool: round ${round + 1} of ${rounds}`)
      for (const [shape, ofShape] of samples) {
        for (const variant of round % 2 === 0 ? VARIANTS : VARIANTS.toReversed()) {
          const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-bench-'))
          const args = [shape, 'fast', url, String(records), JSON.stringify(optionsOf(variant, dir)), String(WAVES[shape])]
          /** @type {import('./worker.mjs').Run} */
          const run = await start(new URL('./app.mjs', import.meta.url), args).first
          for (const [name, value] of Object.entries(run)) ofShape.add(`${variant}: ${name}`, value)
          rmSync(dir, { recursive: true })
        }
      }
    }
    return /** @type {any} */ (Object.fromEntries([...samples].map(([shape, ofShape]) => [shape, ofShape.spreads()])))
  })
}

/** @param {typeof VARIANTS[number]} variant @param {string} dir */
function optionsOf(variant, dir) {
  switch (variant) {
    case 'off': return { spool: false }
    case 'on': return { spool: { dir } }
    // What waits is evicted to disk and read back.
    case 'above maxBufferBytes': return { spool: { dir }, maxBufferBytes: MIB }
    case 'power': return { spool: { dir, durability: 'power' } }
  }
}

/** @param {Awaited<ReturnType<typeof measureSpool>>} result */
export function printSpool(result) {
  console.log('\nthe spool, us of the worker\'s CPU a record: median (min to max), and its share on top of "off"')
  for (const [shape, spreads] of Object.entries(result)) {
    const off = /** @type {import('../tools/statistics.mjs').Spread} */ (spreads['off: workerUs'])
    for (const variant of VARIANTS) {
      const { median, min, max } = /** @type {import('../tools/statistics.mjs').Spread} */ (spreads[`${variant}: workerUs`])
      const rate = /** @type {import('../tools/statistics.mjs').Spread} */ (spreads[`${variant}: recordsPerSecond`]).median
      const share = `${((median / off.median - 1) * 100).toFixed(0)} %`
      console.log(`${shape.padEnd(8)} ${variant.padEnd(22)} ${median.toFixed(2)} (${min.toFixed(2)} to ${max.toFixed(2)})  ${share.padStart(6)}  ${Math.round(rate / 1000)}k/s`)
    }
  }
}
