/**
 * A service that answers so many requests at once in its own time, more of them in proportion slower, so that asking for more brings
 * nothing, and refuses beyond a bound. What it could take at most is known, and ours is held against it. The peers are not: a request
 * of theirs carries thousands of entries and costs this service as little as one of 100.
 */
import { run, withPeerSink } from '../peers/run.mjs'
import { Samples } from '../tools/statistics.mjs'
import { cell, table } from '../tools/table.mjs'
import { OURS } from './ours.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {typeof SERVICE} Service
 *
 * @typedef {object} Slowing one way of ours against this service
 * @property {string} name
 * @property {Service} service
 * @property {number} lost records of all rounds
 * @property {number} duplicated
 * @property {Record<'entriesPerSecond' | 'requests' | 'refused' | 'maxInFlight', Spread>} spreads
 * @property {[number, number][]} inFlight of the first round: ms, requests
 */

const SERVICE = { delayMs: 10, capacity: 8, refusesAbove: 24 }
const ENTRIES_A_REQUEST = 100
/** What it can take at most. */
const IDEAL = ((SERVICE.capacity * ENTRIES_A_REQUEST) / SERVICE.delayMs) * 1000

/** @param {{ rounds: number, records: number, warmUp: number, tell: (line: string) => void }} settings @returns {Promise<Slowing[]>} */
export function measureSlowing({ rounds, records, warmUp, tell }) {
  return withPeerSink(async (sink) => {
    const all = OURS.map((subject) => ({
      subject,
      samples: new Samples(),
      lost: 0,
      duplicated: 0,
      inFlight: /** @type {[number, number][]} */ ([]),
    }))
    for (let round = 0; round < rounds; round += 1) {
      tell(`round ${round + 1} of ${rounds}: a service that slows down`)
      for (const one of round % 2 === 0 ? all : all.toReversed()) {
        const { lost, duplicated, measured, seen } = await run(sink, one.subject, {
          shape: 'http',
          records,
          warmUp,
          ...SERVICE,
        })
        if (seen === undefined) throw new Error('ours speaks to the sink')
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
    `A service that answers ${SERVICE.capacity} requests at once in ${SERVICE.delayMs} ms, more in proportion slower, and refuses beyond ${SERVICE.refusesAbove}:`,
    `at most ${whole(IDEAL)} entries a second`,
    ...table([
      [
        '',
        'entries/s',
        'of what it can take',
        'requests refused',
        'taken',
        'most in flight',
        'records lost',
        'duplicated',
      ],
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
