/** The time from a log call to the service's reply. */
import { lineChart } from '../tools/chart.mjs'
import { start } from '../tools/children.mjs'
import { Samples } from '../tools/statistics.mjs'
import { cell, table } from '../tools/table.mjs'
import { spoolFolder } from '../tools/worker-runs.mjs'
import { percentile, quantiles } from './percentiles.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {{ perSecond: number, flushIntervalMs: number }} Case
 * @typedef {{ firstMs: Spread, p50Ms: Spread, p90Ms: Spread, p99Ms: Spread, maxMs: Spread, callsPerSecond: Spread }} Latency
 * @typedef {Case & { latency: Latency | null, quantiles: [number, number][] }} Answer null without a valid round
 * @typedef {{ rounds: number, seconds: number, voidRounds: string[], answers: Answer[] }} Result
 */

const RATES = [100, 5_000]
const FLUSH_INTERVALS_MS = [1_000, 100]
/** @type {readonly Case[]} */
const CASES = FLUSH_INTERVALS_MS.flatMap((flushIntervalMs) =>
  RATES.map((perSecond) => ({ perSecond, flushIntervalMs })),
)
/** The start of the worker and of the HTTP client is reported separately, as the latency of the first call. */
const WARM_UP_SECONDS = 2
const GOAL_EXTRA_MS = 50

export const question = {
  name: 'latency',
  asks: "How long does it take from a log call to the service's reply?",
  needsLinux: false,
  options: { rounds: 3, seconds: 10 },
  quick: { rounds: 1, seconds: 3 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, seconds = 0 }, showProgress }) {
    const sink = start(new URL('./sink.mjs', import.meta.url))
    try {
      const { url } = await sink.first
      const gathered = CASES.map((one) => ({ ...one, samples: new Samples(), all: /** @type {number[]} */ ([]) }))
      /** @type {string[]} */
      const voidRounds = []
      for (let round = 0; round < rounds; round += 1) {
        for (const one of round % 2 === 0 ? gathered : gathered.toReversed()) {
          showProgress(`round ${round + 1} of ${rounds}: ${titleOf(one)}`)
          const { first, latencies, callsPerSecond, fault } = await measureRun({ ...one, url, seconds, sink })
          if (fault !== undefined) {
            voidRounds.push(`${titleOf(one)}, round ${round + 1}: ${fault}`)
            showProgress(`does not count: ${voidRounds.at(-1)}`)
            continue
          }
          const at = (/** @type {number} */ share) => percentile(latencies, share)
          const values = {
            firstMs: first,
            p50Ms: at(0.5),
            p90Ms: at(0.9),
            p99Ms: at(0.99),
            maxMs: at(1),
            callsPerSecond,
          }
          for (const [name, value] of Object.entries(values)) one.samples.add(name, value)
          one.all.push(...latencies)
        }
      }
      const answers = gathered.map(({ samples, all, ...one }) => ({
        ...one,
        latency: all.length === 0 ? null : /** @type {Latency} */ (samples.spreads()),
        quantiles: quantiles(all),
      }))
      return { rounds, seconds, voidRounds, answers }
    } finally {
      sink.stop()
    }
  },

  /** @param {Result} result */
  lines({ voidRounds, answers }) {
    return [
      'ms from the log call until the service has passed its reply to the system, without the transfer of the reply. Median (min to max) of the rounds',
      ...voidRounds.map((round) => `does not count: ${round}`),
      '',
      ...table([['', 'p50', 'p90', 'p99', 'max', 'first call after the start'], ...answers.map(row)]),
      '',
      `goal: at 100 per second p99 under batch.intervalMs + ${GOAL_EXTRA_MS} ms`,
      ...answers.filter(({ perSecond }) => perSecond === 100).map(goalSentence),
    ]
  },

  /** @param {Result} result */
  charts({ answers }) {
    return {
      'latency.svg': lineChart({
        title: 'From log call to acknowledgement',
        subtitle: 'Share of records answered within the time, HTTP records, spool on',
        x: { label: 'ms', isLog: true },
        y: { label: '% of the records', max: 100 },
        series: answers.map((answer) => ({
          label: titleOf(answer),
          points: answer.quantiles.map(([share, ms]) => /** @type {[number, number]} */ ([ms, share * 100])),
          isOurs: true,
          isDashed: answer.perSecond === 100,
        })),
      }),
    }
  },
}

/** @param {Case & { url: string, seconds: number, sink: ReturnType<typeof start> }} run */
async function measureRun({ perSecond, flushIntervalMs, url, seconds, sink }) {
  const { dir, clean } = spoolFolder()
  const options = JSON.stringify({ batch: { intervalMs: flushIntervalMs }, spool: { dir } })
  const app = start(new URL('./app.mjs', import.meta.url), [
    url,
    options,
    String(perSecond),
    String(seconds + WARM_UP_SECONDS),
  ])
  /** @type {{ logged: number, callsPerSecond: number }} */
  const { logged, callsPerSecond } = await app.first
  clean()
  /** @type {{ latencies: [number, number][], repeated: number }} */
  const { latencies: byNumber, repeated } = await sink.ask('what came?')
  const warmUp = perSecond * WARM_UP_SECONDS
  const latencies = byNumber
    .filter(([n]) => n >= warmUp)
    .map(([, ms]) => ms)
    .toSorted((a, b) => a - b)
  const first = byNumber.find(([n]) => n === 0)?.[1] ?? NaN
  return { first, latencies, callsPerSecond, fault: faultOf(logged, byNumber.length, repeated) }
}

/** @param {number} logged @param {number} arrived @param {number} repeated */
function faultOf(logged, arrived, repeated) {
  return logged === arrived && repeated === 0 ? undefined : `${logged} logged, ${arrived} arrived, ${repeated} twice`
}

/** @param {Answer} answer */
function row({ latency, ...one }) {
  if (latency === null) return [titleOf(one), 'no round counts']
  return [
    titleOf(one),
    ...[latency.p50Ms, latency.p90Ms, latency.p99Ms, latency.maxMs, latency.firstMs].map((spread) =>
      cell(spread, written),
    ),
  ]
}

/** @param {Answer} answer */
function goalSentence({ flushIntervalMs, latency }) {
  if (latency === null) return `batch.intervalMs ${flushIntervalMs}: no round counts`
  const goalMs = flushIntervalMs + GOAL_EXTRA_MS
  const { median } = latency.p99Ms
  return `batch.intervalMs ${flushIntervalMs}: p99 ${written(median)} ms of ${goalMs} ms, ${median < goalMs ? 'met' : 'missed'}`
}

/** @param {Case} one */
function titleOf({ perSecond, flushIntervalMs }) {
  return `${perSecond.toLocaleString('en')} per second, batch.intervalMs ${flushIntervalMs}`
}

/** @param {number} ms */
function written(ms) {
  return ms.toFixed(ms < 10 ? 1 : 0)
}
