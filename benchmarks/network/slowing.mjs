/**
 * A service that answers `capacity` concurrent requests in `delayMs` and more of them proportionally slower, so more
 * requests do not help, and that refuses above a limit. Its maximum throughput is known, and pino-ingest is compared
 * with it. The peers are not: their requests with thousands of entries cost this service as little as one with 100.
 */
import { run, withPeerSink } from '../peers/run.mjs'
import { OURS } from '../peers/subjects.mjs'
import { Samples } from '../tools/statistics.mjs'
import { cell, table } from '../tools/table.mjs'

/**
 * @typedef {object} Slowing
 * @property {typeof SERVICE} service
 * @property {number} lost records of all rounds
 * @property {number} duplicated
 * @property {Record<string, import('../tools/statistics.mjs').Spread>} spreads
 * @property {[number, number][]} inFlight of the first round: ms, requests
 */

const SERVICE = { delayMs: 10, capacity: 8, refusesAbove: 24 }
const ENTRIES_A_REQUEST = 100
/** The maximum throughput. */
const IDEAL = ((SERVICE.capacity * ENTRIES_A_REQUEST) / SERVICE.delayMs) * 1000

/** @param {{ rounds: number, records: number, warmUp: number, showProgress: (line: string) => void }} settings @returns {Promise<Slowing>} */
export function measureSlowing({ rounds, records, warmUp, showProgress }) {
  return withPeerSink(async (sink) => {
    const samples = new Samples()
    const sum = { lost: 0, duplicated: 0 }
    /** @type {[number, number][]} */
    let inFlight = []
    for (let round = 0; round < rounds; round += 1) {
      showProgress(`round ${round + 1} of ${rounds}: a service that slows down`)
      const { lost, duplicated, measured, seen } = await run(sink, OURS, { shape: 'http', records, warmUp, ...SERVICE })
      sum.lost += lost
      sum.duplicated += duplicated
      const { requests, refused, maxInFlight } = seen
      const values = { entriesPerSecond: measured.entriesPerSecond, refused, requests, maxInFlight }
      for (const [name, value] of Object.entries(values)) samples.add(name, value)
      if (round === 0) inFlight = seen.inFlight
    }
    return { service: SERVICE, ...sum, spreads: samples.spreads(), inFlight }
  })
}

/** @param {Slowing} slowing @returns {string[]} */
export function slowingLines({ lost, duplicated, spreads: { entriesPerSecond, refused, requests, maxInFlight } }) {
  const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US')
  return [
    `A service that answers ${SERVICE.capacity} concurrent requests in ${SERVICE.delayMs} ms, more proportionally slower, and refuses above ${SERVICE.refusesAbove}:`,
    `at most ${whole(IDEAL)} entries per second`,
    ...table([
      ['entries/s', 'of its capacity', 'requests refused', 'taken', 'most in flight', 'records lost', 'duplicated'],
      [
        cell(entriesPerSecond, whole),
        `${(((entriesPerSecond?.median ?? NaN) / IDEAL) * 100).toFixed(0)} %`,
        cell(refused, whole),
        cell(requests, whole),
        cell(maxInFlight, whole),
        String(lost),
        String(duplicated),
      ],
    ]),
  ]
}
