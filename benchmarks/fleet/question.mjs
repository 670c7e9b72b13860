/**
 * Compares a queue in front of the service with none. An application publishes as fast as it is acknowledged, with one forwarder that
 * delivers at the same time, and without a forwarder. All nodes share this machine's cores and disk, so three nodes are slower here than on three machines.
 */
import { barChart } from '../tools/chart.mjs'
import { start } from '../tools/children.mjs'
import { Samples, ratios, spread } from '../tools/statistics.mjs'
import { bar, cell, table, thousands, us } from '../tools/table.mjs'
import { deliver, publish, scale, takeUp } from './measure.mjs'
import { startQueue } from './queue.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./queue.mjs').Queue} Queue
 * @typedef {(typeof SETUPS)[number]} Setup
 * @typedef {Record<string, Spread>} Spreads
 * @typedef {object} Result
 * @property {Record<Setup, Spreads>} ways
 * @property {Record<Setup, Spreads>} ratios to `direct` of the same round
 * @property {Record<string, Spreads>} forwarders by their number
 * @property {Spread} takeUpMs
 */

const SETUPS = /** @type {const} */ (['direct', 'one node', 'three nodes'])
const SINK = new URL('../tools/sink.mjs', import.meta.url)
const FORWARDERS = [1, 4]
const SERVICE_MS = 100
/** Goals that were set before the first measurement. */
const GOALS = { 'one node': 0.95, 'three nodes': 0.8 }
const MORE_US_GOAL = 1.5
const MAIN_GOAL = 1.05
const TAKE_UP_GOAL_MS = 3_000

export const question = {
  name: 'fleet',
  asks: 'What does a durable queue in front of the service cost, and how do its forwarders scale?',
  needsLinux: true,
  /**
   * records: of one run, after a warm-up of 100,000; scale-records: that wait for the forwarders of the slow service.
   */
  options: { rounds: 3, records: 100_000, 'scale-records': 40_000 },
  quick: { rounds: 1, records: 20_000, 'scale-records': 20_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, records = 0, 'scale-records': scaleRecords = 0 }, showProgress }) {
    showProgress('starting one node, and a cluster of three')
    /** @type {Partial<Record<Setup, Queue>>} */
    const queues = {}
    try {
      queues['one node'] = await startQueue(1)
      queues['three nodes'] = await startQueue(3)
      const ways = await measureSetups({ queues, rounds, records, showProgress })
      return {
        ...ways,
        ...(await measureForwarders({ queue: queues['one node'], rounds, records: scaleRecords, showProgress })),
      }
    } finally {
      await Promise.all(Object.values(queues).map((queue) => queue.close()))
    }
  },

  /** @param {Result} result */
  lines({ ways, ratios: times, forwarders, takeUpMs }) {
    const verdict = (/** @type {boolean} */ holds) => (holds ? 'reached' : 'missed')
    const [one, ...more] = FORWARDERS.map((count) => [count, forwarders[count]?.['batchesPerSecond']])
    const alone = /** @type {Spread} */ (one?.[1])
    return [
      'http records, spool on; median of the rounds (min to max)',
      '',
      ...Object.entries(GOALS).flatMap(([setup, goal]) =>
        Object.entries({ published: 'recordsPerSecond', 'published and delivered': 'deliveredPerSecond' }).map(
          ([what, name]) => {
            const ratio = /** @type {Spread} */ (times[/** @type {Setup} */ (setup)][name])
            return `${setup}: ${what} ${cell(ratio)} relative to direct (goal ${goal}: ${verdict(ratio.median >= goal)})`
          },
        ),
      ),
      ...Object.keys(GOALS).map((setup) => {
        const extra = /** @type {Spread} */ (times[/** @type {Setup} */ (setup)]['moreUs'])
        return `${setup}: ${cell(extra)} µs additional application CPU per entry (goal ${MORE_US_GOAL}: ${verdict(extra.median <= MORE_US_GOAL)})`
      }),
      ...Object.keys(GOALS).map((setup) => {
        const main = /** @type {Spread} */ (times[/** @type {Setup} */ (setup)]['mainUs'])
        return `${setup}: main thread ${cell(main)} relative to direct (goal ${MAIN_GOAL}: ${verdict(main.median <= MAIN_GOAL)})`
      }),
      `a new forwarder sends its first request after ${cell(takeUpMs, whole)} ms (goal ${TAKE_UP_GOAL_MS}: ${verdict(takeUpMs.max <= TAKE_UP_GOAL_MS)})`,
      '',
      ...table([
        ['', 'delivered', 'acknowledged', 'worker µs', 'main µs', 'nodes µs', 'forwarder µs'],
        ...SETUPS.map((setup) => {
          const { deliveredPerSecond, recordsPerSecond, workerUs, mainUs, serversUs, forwardUs } = ways[setup]
          return [
            setup,
            cell(deliveredPerSecond, thousands),
            cell(recordsPerSecond, thousands),
            cell(workerUs),
            cell(mainUs),
            cell(serversUs),
            cell(forwardUs),
          ]
        }),
      ]),
      '',
      `Forwarders of a service with a reply time of ${SERVICE_MS} ms, with 8 requests in flight each`,
      '',
      ...table([
        ['forwarders', 'batches per second', 'times one'],
        ['1', cell(alone, whole), '1'],
        ...more.map(([count, rate]) => {
          const found = /** @type {Spread} */ (rate)
          return [String(count), cell(found, whole), us(found.median / alone.median)]
        }),
      ]),
    ]
  },

  /** @param {Result} result */
  charts({ ways, forwarders }) {
    const bars = (/** @type {string} */ name, /** @type {number} */ unit = 1) =>
      SETUPS.flatMap((setup) => {
        const found = ways[setup][name]
        if (found === undefined) return []
        const scaled = { median: found.median / unit, min: found.min / unit, max: found.max / unit }
        return [{ label: setup, ...bar(scaled), isOurs: true }]
      })
    return {
      'fleet.svg': barChart({
        title: 'A queue in front of the service',
        subtitle: 'http records, spool on. More is better. All nodes share two cores and one disk.',
        unit: 'thousand entries delivered per second',
        groups: [{ label: '', bars: bars('deliveredPerSecond', 1_000) }],
      }),
      'fleet-cpu.svg': barChart({
        title: 'CPU per entry, with a queue in front of the service',
        subtitle: 'Less is better.',
        unit: 'µs per entry',
        groups: [
          { label: "pino's worker", bars: bars('workerUs') },
          { label: 'all nodes', bars: bars('serversUs') },
          { label: 'the forwarder', bars: bars('forwardUs') },
        ],
      }),
      'fleet-forwarders.svg': barChart({
        title: `Forwarders of a service with a reply time of ${SERVICE_MS} ms`,
        subtitle: 'More is better. 8 requests in flight each.',
        unit: 'batches delivered per second',
        groups: [
          {
            label: '',
            bars: Object.entries(forwarders).map(([count, { batchesPerSecond }]) => ({
              label: count,
              ...bar(/** @type {Spread} */ (batchesPerSecond)),
              isOurs: true,
            })),
          },
        ],
      }),
    }
  },
}

/**
 * @param {{ queues: Partial<Record<Setup, Queue>>, rounds: number, records: number, showProgress: (line: string) => void }} asked
 * @returns {Promise<Pick<Result, 'ways' | 'ratios'>>}
 */
async function measureSetups({ queues, rounds, records, showProgress }) {
  /** @type {Record<Setup, Record<string, number>[]>} */
  const runs = { direct: [], 'one node': [], 'three nodes': [] }
  const sink = start(SINK, ['0'])
  try {
    const { url } = await sink.first
    for (let round = 0; round < rounds; round += 1) {
      for (const setup of round % 2 === 0 ? SETUPS : SETUPS.toReversed()) {
        showProgress(`round ${round + 1} of ${rounds}: ${setup}`)
        const queue = queues[setup]
        await queue?.empty()
        const delivered = await deliver({ sink, url, queue, records })
        // Without a forwarder, which would take CPU from the application.
        runs[setup].push({ ...delivered, ...(queue && (await publish({ url, queue, records }))) })
      }
    }
  } finally {
    sink.stop()
  }
  const of = (/** @type {Setup} */ setup, /** @type {string} */ name) => runs[setup].map((run) => run[name] ?? NaN)
  const spreadsOf = (/** @type {Setup} */ setup) => {
    const samples = new Samples()
    for (const run of runs[setup]) for (const [name, value] of Object.entries(run)) samples.add(name, value)
    return samples.spreads()
  }
  /** All threads, since the worker also causes work in V8's and libuv's threads. @param {Setup} setup */
  const processUs = (setup) =>
    runs[setup].map(({ mainUs = NaN, workerUs = NaN, othersUs = NaN }) => mainUs + workerUs + othersUs)
  const ratiosOf = (/** @type {Setup} */ setup) => {
    const direct = processUs('direct')
    return {
      recordsPerSecond: spread(ratios(of(setup, 'recordsPerSecond'), of('direct', 'recordsPerSecond'))),
      deliveredPerSecond: spread(ratios(of(setup, 'deliveredPerSecond'), of('direct', 'deliveredPerSecond'))),
      mainUs: spread(ratios(of(setup, 'mainUs'), of('direct', 'mainUs'))),
      moreUs: spread(processUs(setup).map((value, round) => value - (direct[round] ?? NaN))),
    }
  }
  const byWay = (/** @type {(setup: Setup) => Spreads} */ make) =>
    /** @type {Record<Setup, Spreads>} */ (Object.fromEntries(SETUPS.map((setup) => [setup, make(setup)])))
  return { ways: byWay(spreadsOf), ratios: byWay(ratiosOf) }
}

/**
 * @param {{ queue: Queue, rounds: number, records: number, showProgress: (line: string) => void }} asked
 * @returns {Promise<Pick<Result, 'forwarders' | 'takeUpMs'>>}
 */
async function measureForwarders({ queue, rounds, records, showProgress }) {
  const sink = start(SINK, [String(SERVICE_MS)])
  try {
    const { url } = await sink.first
    const samples = new Map(FORWARDERS.map((count) => [count, new Samples()]))
    const takeUps = []
    for (let round = 0; round < rounds; round += 1) {
      for (const count of round % 2 === 0 ? FORWARDERS : FORWARDERS.toReversed()) {
        showProgress(`round ${round + 1} of ${rounds}: ${count} forwarders`)
        await queue.empty()
        await publish({ url, queue, records })
        const { batchesPerSecond } = await scale({ queue, url, count })
        samples.get(count)?.add('batchesPerSecond', batchesPerSecond)
      }
      takeUps.push(await takeUp({ queue, sink, url }))
    }
    return {
      forwarders: Object.fromEntries([...samples].map(([count, of]) => [count, of.spreads()])),
      takeUpMs: spread(takeUps),
    }
  } finally {
    sink.stop()
  }
}

/** @param {number} value */
function whole(value) {
  return Math.round(value).toLocaleString('en')
}
