/** The variants: the same records, logged to different destinations. */
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { ingestOptions } from '../../dist/esm/index.js'
import { IDENTITY, TARGET } from '../tools/ours.mjs'
import { BASE } from '../tools/shapes.mjs'
import { threadOf } from '../tools/threads.mjs'

/**
 * @typedef {'ticks' | 'dropping' | 'ours' | 'helpers'} Variant
 * @typedef {{ logger?: import('pino').Logger, transport?: any, thread: string }} Logging `thread` is the worker's
 */

/** @type {Readonly<Record<Variant, string>>} */
export const VARIANTS = {
  ticks: 'no log call: only the ticks',
  dropping: 'pino to a worker that drops everything',
  ours: 'pino to pino-ingest',
  helpers: 'the same, with ingestOptions()',
}

const DROPPING = fileURLToPath(new URL('../peers/empty-transport.cjs', import.meta.url))
const OPTIONS = { base: BASE, level: 'debug' }

/** @param {Variant} variant @param {string} url @param {string} spoolDir @returns {Logging} */
export function loggingOf(variant, url, spoolDir) {
  const options = { url, ...IDENTITY, spool: { dir: spoolDir } }
  switch (variant) {
    case 'ticks':
      return { thread: '' }
    case 'dropping':
      return toWorker(DROPPING, {}, OPTIONS)
    case 'ours':
      return toWorker(TARGET, options, OPTIONS)
    case 'helpers':
      return toWorker(TARGET, options, ingestOptions({ ...OPTIONS, transport: false }))
  }
}

/** @param {string} target @param {object} options @param {import('pino').LoggerOptions} loggerOptions @returns {Logging} */
function toWorker(target, options, loggerOptions) {
  const { started: transport, thread } = threadOf(() => pino.transport({ target, options }))
  return { logger: pino(loggerOptions, transport), transport, thread }
}
