/**
 * With at most 100 entries per request, the service's latency matters: a client that waits for each reply sends 1,000
 * entries per second to a service that takes 100 ms. The peers send thousands per request. A service may also slow
 * down under load and finally refuse requests: then the client must not exceed its capacity.
 */
import { bars, compare, tableOf } from '../peers/compare.mjs'
import { installPeers } from '../peers/install.mjs'
import { claimLines } from '../peers/ratios.mjs'
import { OURS, peerSubjects } from '../peers/subjects.mjs'
import { barChart, lineChart } from '../tools/chart.mjs'
import { measureSlowing, slowingLines } from './slowing.mjs'

/**
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {{ delays: Record<string, Row[]>, slowing: import('./slowing.mjs').Slowing }} Result
 */

const DELAYS_MS = [25, 100]
const CLAIMS = /** @type {const} */ ([
  { key: 'entriesPerSecond', better: 'most', what: 'entries/s', goal: 1.3 },
  { key: 'workerUs', better: 'least', what: 'CPU of the worker' },
  { key: 'peakMib', better: 'least', what: 'peak memory', goal: 1 },
])

export const question = {
  name: 'network',
  asks: 'How many entries per second does a slow service acknowledge, and what happens to a service that slows down under load?',
  needsLinux: true,
  options: { rounds: 3, records: 100_000, 'warm-up': 60_000 },
  quick: { rounds: 1, records: 20_000, 'warm-up': 20_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options, showProgress }) {
    const { rounds = 0, records = 0, 'warm-up': warmUp = 0 } = options
    const peers = peerSubjects(installPeers(showProgress))
    const loads = Object.fromEntries(
      DELAYS_MS.map((delayMs) => [`${delayMs} ms`, { shape: /** @type {const} */ ('http'), records, warmUp, delayMs }]),
    )
    const delays = await compare({ rounds, loads, subjects: [OURS, ...peers], showProgress })
    return { delays, slowing: await measureSlowing({ rounds, records, warmUp, showProgress }) }
  },

  /** @param {Result} result */
  lines({ delays, slowing }) {
    return [
      ...Object.entries(delays).flatMap(([delay, rows]) => [
        `HTTP requests, a service with a reply time of ${delay}`,
        ...claimLines(rows, CLAIMS),
        ...tableOf(rows),
        '',
      ]),
      ...slowingLines(slowing),
    ]
  },

  /** @param {Result} result */
  charts({ delays, slowing: { service, inFlight } }) {
    const lastMs = Math.max(0, ...inFlight.map(([at]) => at))
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
          { label: 'pino-ingest', points: inFlight, isOurs: true },
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
