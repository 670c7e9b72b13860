/**
 * With at most 100 entries per request, the service's latency matters: a client that waits for each reply sends 1,000
 * entries per second to a service that takes 100 ms. The peers send thousands per request. A service may also slow
 * down under load and finally refuse requests: then the client must not exceed its capacity.
 */
import { bars, compare, tableOf } from '../peers/compare.mjs'
import { installPeers } from '../peers/install.mjs'
import { ratioCells } from '../peers/ratios.mjs'
import { peerSubjects } from '../peers/subjects.mjs'
import { barChart, lineChart } from '../tools/chart.mjs'
import { table } from '../tools/table.mjs'
import { OURS } from './ours.mjs'
import { measureSlowing, slowingLines } from './slowing.mjs'

/**
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {{ delays: Record<string, Row[]>, slowing: import('./slowing.mjs').Slowing[] }} Result
 */

const DELAYS_MS = [25, 100]
/** @type {readonly import('../peers/ratios.mjs').Claim[]} */
const CLAIMS = [
  { key: 'entriesPerSecond', better: 'most', what: 'entries/s', goal: 1.3 },
  { key: 'workerUs', better: 'least', what: 'CPU of the worker' },
  { key: 'peakMib', better: 'least', what: 'peak memory', goal: 1 },
]

export const question = {
  name: 'network',
  asks: 'How many entries per second does a slow service acknowledge, and what happens to a service that slows down under load?',
  needsLinux: true,
  /** peers: the first `peers` of `VERSIONS`, 6 are all. only-ours: 1 skips all others. */
  options: { rounds: 5, records: 150_000, 'warm-up': 100_000, peers: 3, 'only-ours': 0 },
  quick: { rounds: 1, records: 30_000, 'warm-up': 30_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options, showProgress }) {
    const { rounds = 0, records = 0, 'warm-up': warmUp = 0, peers: count = 0 } = options
    const peers = options['only-ours'] ? [] : peerSubjects(installPeers(showProgress)).slice(0, count)
    const loads = Object.fromEntries(
      DELAYS_MS.map((delayMs) => [`${delayMs} ms`, { shape: /** @type {const} */ ('http'), records, warmUp, delayMs }]),
    )
    const delays = await compare({ rounds, loads, subjects: [...OURS, ...peers], showProgress })
    return { delays, slowing: await measureSlowing({ rounds, records, warmUp, showProgress }) }
  },

  /** @param {Result} result */
  lines({ delays, slowing }) {
    return [
      ...Object.entries(delays).flatMap(([delay, rows]) => [
        `HTTP requests, a service with a reply time of ${delay}`,
        ...verdict(rows),
        ...tableOf(rows),
        '',
      ]),
      ...slowingLines(slowing),
    ]
  },

  /** @param {Result} result */
  charts({ delays, slowing }) {
    const [{ service } = { service: { capacity: 0, refusesAbove: 0, delayMs: 0 } }] = slowing
    const lastMs = Math.max(0, ...slowing.flatMap(({ inFlight }) => inFlight.map(([at]) => at)))
    return {
      'network.svg': barChart({
        title: 'Entries acknowledged per second by a slow service',
        subtitle: 'More is better. pino-ingest sends at most 100 a request, the peers as many as they like.',
        unit: 'thousand per second',
        groups: Object.entries(delays).map(([delay, rows]) => ({
          label: `reply time ${delay}`,
          bars: bars(rows, 'entriesPerSecond', 1000),
        })),
      }),
      'network-slowing.svg': lineChart({
        title: 'Requests in flight to a service that slows down under load',
        subtitle: `It answers ${service.capacity} concurrent requests in ${service.delayMs} ms, more proportionally slower, and refuses above ${service.refusesAbove}.`,
        x: { label: 'ms since the first request' },
        y: { label: 'requests in flight', max: service.refusesAbove + 5 },
        series: [
          ...slowing.map(({ name, inFlight }) => ({
            label: `pino-ingest, ${name}`,
            points: inFlight,
            isOurs: name === 'spool on',
          })),
          ...[
            ['refused beyond', service.refusesAbove],
            ['its capacity', service.capacity],
          ].map(([label, level]) => ({
            label: String(label),
            isDashed: true,
            points: /** @type {[number, number][]} */ ([
              [0, level],
              [lastMs, level],
            ]),
          })),
        ],
      }),
    }
  },
}

/** @param {readonly Row[]} rows @returns {string[]} */
function verdict(rows) {
  const lines = rows
    .filter(({ isOurs }) => isOurs)
    .flatMap((ours) => CLAIMS.map((claim) => ratioCells(rows, ours, claim)))
  return table([
    ['relative to the best peer of the round', 'median (min to max)'],
    ...lines.filter((line) => line !== undefined),
  ])
}
