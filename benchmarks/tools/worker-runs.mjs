/** Runs of an application that logs through the real worker transport; see `worker-app.mjs`. Linux. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start, withSink } from './children.mjs'
import { SHAPE_NAMES } from './shapes.mjs'
import { inTurns } from './turns.mjs'

/**
 * @typedef {{ recordsPerSecond: number, mainUs: number, workerUs: number, othersUs: number }} Run CPU per record;
 *   others: threads of V8 and libuv
 * @typedef {Record<keyof Run, import('./statistics.mjs').Spread>} Runs
 * @typedef {(typeof SHAPE_NAMES)[number]} Shape
 */

/** With the spool on: two waves of this size wait for their acknowledgement, 3 to 6 MiB, less than `maxBufferBytes`. */
export const SPOOL_WAVES = { small: 5_000, http: 3_000, error: 1_500 }

export { SHAPE_NAMES }

/** A separate folder for a run's spool. */
export function spoolFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-bench-'))
  return { dir, clean: () => rmSync(dir, { recursive: true }) }
}

/**
 * @template {string} C
 * @template {string} V
 * @param {{
 *   rounds: number, records: number, cases: readonly C[], variants: readonly V[], showProgress: (line: string) => void,
 *   setUp: (name: C, variant: V) => { path?: 'fast' | 'reference', options?: object, wave?: number, clean?: () => void },
 * }} runs
 * @returns {Promise<Record<C, Record<V, Runs>>>}
 */
export function workerRuns({ rounds, records, cases, variants, showProgress, setUp }) {
  return withSink(async (url) => {
    const spreads = await inTurns({
      rounds,
      cases,
      variants,
      showProgress,
      run: async (name, variant) => {
        const { path = 'fast', options = { spool: false }, wave = 5_000, clean } = setUp(name, variant)
        const args = [name, path, url, String(records), JSON.stringify(options), String(wave)]
        try {
          return await start(new URL('./worker-app.mjs', import.meta.url), args).first
        } finally {
          clean?.()
        }
      },
    })
    return /** @type {any} */ (spreads)
  })
}
