/**
 * A service that answers `capacity` concurrent requests in `delayMs` and more of them proportionally slower, so more
 * requests do not help, and that refuses above a limit. Its maximum throughput is known, and pino-ingest is compared
 * with it. The peers are not: their requests with thousands of entries cost this service as little as one with 100.
 */
import { run, withPeerSink } from '../peers/run.mjs'
import { Samples } from '../tools/statistics.mjs'
import { cell, table } from '../tools/table.mjs'
import { OURS } from './ours.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {typeof SERVICE} Service
 *
 * @typedef {object} Slowing one variant of pino-ingest with this service
 * @property {string} name
 * @property {Service} service
 * @property {number} lost records of all rounds
 * @property {number} duplicated
 * @property {Record<'entriesPerSecond' | 'requests' | 'refused' | 'maxInFlight', Spread>} spreads
 * @property {[number, number][]} inFlight of the first round: ms, requests
 */

const SERVICE = { delayMs: 10, capacity: 8, refusesAbove: 24 }
const ENTRIES_A_REQUEST = 100
/** The maximum throughput. */
const IDEAL = ((SERVICE.capacity * ENTRIES_A_REQUEST) / SERVICE.delayMs) * 1000

/** @param {{ rounds: number, records: number, warmUp: number, showProgress: (line: string) => void }} settings @returns {Promise<Slowing[]>} */
export function measureSlowing({ rounds, records, warmUp, showProgress }) {
  return withPeerSink(async (sink) => {
    const all = OURS.map((subject) => ({
      subject,
      samples: new Samples(),
      lost: 0,
      duplicated: 0,
      inFlight: /** @type {[number, number][]} */ ([]),
    }))
    for (let round = 0; round < rounds; round += 1) {
      showProgress(`round ${round + 1} of ${rounds}: a service that slows down`)
      for (const one of round % 2 === 0 ? all : all.toReversed()) {
        const { lost, duplicated, measured, seen } = await run(sink, one.subject, {
          shape: 'http',
          records,
          warmUp,
          ...SERVICE,
        })
        if (seen === undefined) throw new Error('pino-ingest needs the sink')
        one.lost += lost
        one.duplicated += duplicated
        one.samples.add('entriesPerSecond', measured.entriesPerSecond)
        for (const name of /** @type {const} */ (['requests', 'refused', 'maxInFlight']))
          one.samples.add(name, seen[name])
        if (round === 0) one.inFlight = seen.inFlight
      }
    }
    return all.map(({ subject, samples, lost, duplicated, inFlight }) => ({
      name: subject.name,
      service: SERVICE,
      lost,
      duplicated,
      spreads: /** @type {Slowing['spreads']} */ (samples.spreads()),
      inFlight,
    }))
  })
}

/** @param {readonly Slowing[]} all @returns {string[]} */
export function slowingLines(all) {
  const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US')
  return [
    `A service that answers ${SERVICE.capacity} concurrent requests in ${SERVICE.delayMs} ms, more proportionally slower, and refuses above ${SERVICE.refusesAbove}:`,
    `at most ${whole(IDEAL)} entries per second`,
    ...table([
      ['', 'entries/s', 'of its capacity', 'requests refused', 'taken', 'most in flight', 'records lost', 'duplicated'],
      ...all.map(({ name, lost, duplicated, spreads: { entriesPerSecond, requests, refused, maxInFlight } }) => [
        name,
        cell(entriesPerSecond, whole),
        `${((entriesPerSecond.median / IDEAL) * 100).toFixed(0)} %`,
        cell(refused, whole),
        cell(requests, whole),
        cell(maxInFlight, whole),
        String(lost),
        String(duplicated),
      ]),
    ]),
  ]
}
