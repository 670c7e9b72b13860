/** The cost of an outage: memory during it, time afterwards, and the delay of new records by the backlog. */
import { lineChart } from '../tools/chart.mjs'
import { spread } from '../tools/statistics.mjs'
import { BESIDE_PER_SECOND, measureBacklog, measureFlood } from './backlog.mjs'
import { measureOutage } from './paced.mjs'
import { report } from './report.mjs'

/**
 * @typedef {{ rounds: number, perSecond: number, outageS: number, backlog: number }} Options
 * @typedef {Awaited<ReturnType<typeof measureOutage>>} OutageRun
 * @typedef {Awaited<ReturnType<typeof measureBacklog>>} BacklogRun
 * @typedef {{ options: Options, outages: OutageRun[], floods: import('./backlog.mjs').Speed[], drains: BacklogRun[], beside: BacklogRun[] }} OutageResult
 */

export const question = {
  name: 'outage',
  asks: 'How much memory does an outage of the service take, how fast is the backlog sent afterwards, and how long do new records wait meanwhile?',
  needsLinux: true,
  // `backlog`: records that a killed process leaves.
  options: { rounds: 3, perSecond: 5_000, outageS: 20, backlog: 200_000 },
  quick: { rounds: 1, outageS: 5, backlog: 40_000 },

  /** @param {{ options: Options, showProgress: (line: string) => void }} context @returns {Promise<OutageResult>} */
  async measure({ options, showProgress }) {
    const { rounds, perSecond, outageS, backlog: records } = options
    /** @type {OutageResult} */
    const result = { options, outages: [], floods: [], drains: [], beside: [] }
    for (let round = 1; round <= rounds; round += 1) {
      showProgress(`round ${round} of ${rounds}: down for ${outageS} s`)
      result.outages.push(await measureOutage({ perSecond, outageMs: outageS * 1000 }))
      showProgress(`round ${round} of ${rounds}: a backlog of ${records}`)
      result.floods.push(await measureFlood({ records }))
      result.drains.push(await measureBacklog({ records, perSecond: 0 }))
      result.beside.push(await measureBacklog({ records, perSecond: BESIDE_PER_SECOND }))
    }
    return result
  },

  lines: report,

  /** The first round. @param {OutageResult} result */
  charts({ outages, options }) {
    const [run] = outages
    if (run === undefined) return {}
    const bands = [{ label: 'outage', from: run.downS, to: run.upS }]
    const x = { label: 'seconds' }
    const points = (/** @type {(moment: import('./paced.mjs').Moment) => number} */ of) =>
      run.moments.map((moment) => /** @type {[number, number]} */ ([moment.atS, of(moment)]))
    const subtitle = `${options.perSecond} records per second, spool on; connections refused`
    return {
      'outage-entries.svg': lineChart({
        title: 'Entries acknowledged, and those that wait',
        subtitle,
        x,
        y: { label: 'entries (per second); in thousands' },
        bands,
        series: [
          {
            label: 'acknowledged per second',
            points: points(({ acknowledgedPerSecond }) => acknowledgedPerSecond / 1000),
            isOurs: true,
          },
          { label: 'waiting', points: points(({ backlog }) => backlog / 1000), isDashed: true },
        ],
      }),
      'outage-memory.svg': lineChart({
        title: 'Memory of the whole process',
        subtitle: `${subtitle}; peak ${spread(outages.map(({ peakMib }) => peakMib.all)).median} MiB`,
        x,
        y: { label: 'MiB' },
        bands,
        series: [{ label: 'resident', points: points(({ rssMib }) => rssMib), isOurs: true }],
      }),
      'outage-waits.svg': lineChart({
        title: 'The longest wait, from log call to arrival, by the time of the call',
        subtitle,
        x,
        y: { label: 'seconds' },
        bands,
        series: [{ label: 'longest wait', points: points(({ longestWaitMs }) => longestWaitMs / 1000), isOurs: true }],
      }),
    }
  },
}
