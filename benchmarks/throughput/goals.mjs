/** Ratios to the best peer, and the goals for them. A missed goal fails nothing. */
import { claimLines } from '../peers/ratios.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {'cold' | 'warm'} State
 */

/** Ratios of pino-ingest, with the spool on and all features at their defaults, to the best peer. */
const ENTRIES_A_SECOND = {
  cold: { small: 1.3, http: 1.3, error: 1.3, mix: 1.3 },
  warm: { small: 2.2, http: 2.3, error: 1.8, mix: 2.1 },
}
const WORKER_CPU = {
  cold: { small: 0.75, http: 0.75, error: 0.85, mix: 0.8 },
  warm: { small: 0.4, http: 0.4, error: 0.6, mix: 0.5 },
}

/** @param {State} state @param {Shape} shape @param {readonly Row[]} rows @returns {string[]} */
export function verdict(state, shape, rows) {
  return claimLines(rows, [
    { key: 'entriesPerSecond', better: 'most', what: 'entries/s', goal: ENTRIES_A_SECOND[state][shape] },
    { key: 'workerUs', better: 'least', what: 'CPU of the worker', goal: WORKER_CPU[state][shape] },
    { key: 'workerAndOthersUs', better: 'least', what: "CPU of the worker and V8's threads" },
    { key: 'mainUs', better: 'least', what: 'CPU of the main thread' },
    { key: 'peakMib', better: 'least', what: 'peak memory', goal: 1 },
  ])
}
