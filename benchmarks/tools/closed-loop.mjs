/** Logs as fast as the service accepts: the application is at most two waves ahead of the acknowledgements. */
import { setImmediate as turn } from 'node:timers/promises'
import { log } from './shapes.mjs'

/** pino buffers everything in memory if the application never yields. */
const YIELD_EVERY = 100

/**
 * @param {{
 *   logger: import('pino').Logger, calls: readonly import('./shapes.mjs').Call[], waveRecords: number,
 *   isDone: (logged: number) => boolean, onWave?: () => void,
 * }} loop `isDone` is called before each wave
 * @returns {Promise<number>} the number of logged records, all acknowledged
 */
export async function logInWaves({ logger, calls, waveRecords, isDone, onWave }) {
  /** @type {Promise<void>[]} */
  const waves = []
  let logged = 0
  while (!isDone(logged)) {
    for (let n = 1; n <= waveRecords; n += 1, logged += 1) {
      log(logger, /** @type {import('./shapes.mjs').Call} */ (calls[logged % calls.length]))
      if (n % YIELD_EVERY === 0) await turn()
    }
    waves.push(acknowledged(logger))
    if (waves.length > 1) await waves.shift()
    onWave?.()
  }
  await Promise.all(waves)
  return logged
}

/**
 * Resolves when all earlier records are acknowledged. @param {import('pino').Logger} logger @returns {Promise<void>}
 */
export function acknowledged(logger) {
  return new Promise((resolve, reject) => logger.flush((error) => (error ? reject(error) : resolve())))
}
