/** The interaction of several processes that log concurrently with one spool folder. */
import { barChart } from '../tools/chart.mjs'
import { start, withSink } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { Samples } from '../tools/statistics.mjs'
import { bar, cell, table, us } from '../tools/table.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./app.mjs').Run} Run
 * @typedef {{ recordsPerSecond: Spread, cpuUs: Spread, peakMib: Spread, share: Spread }} Together
 *   `share`: the slowest process relative to an equal share
 * @typedef {{ rounds: number, voidRounds: string[], together: Record<string, Together | null> }} Result null without
 *   a valid round
 */

const COUNTS = [1, 2, 4, 8]
const HEAD = [
  '',
  'entries/s in all',
  'times one',
  'CPU µs per entry',
  'times one',
  'peak MiB a process',
  'slowest, % of its share',
]
const LOST = { value: NaN, note: 'records were lost' }

export const question = {
  name: 'processes',
  asks: 'What throughput do 1, 2, 4 and 8 processes reach that log concurrently with one spool folder?',
  needsLinux: false,
  // By records, since V8 compiles by use: eight processes are then as warm as one.
  options: { rounds: 3, seconds: 4, warmUp: 50_000 },
  quick: { rounds: 1, seconds: 1, warmUp: 10_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, seconds = 0, warmUp = 0 }, showProgress }) {
    return withSink(async (url) => {
      const samples = new Map(COUNTS.map((count) => [count, new Samples()]))
      /** @type {string[]} */
      const voidRounds = []
      for (let round = 0; round < rounds; round += 1) {
        for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
          showProgress(`round ${round + 1} of ${rounds}: ${title(String(count))}`)
          const { lost, values } = await measureTogether({ count, url, seconds, warmUp })
          if (lost === 0) for (const [name, value] of Object.entries(values)) samples.get(count)?.add(name, value)
          else {
            voidRounds.push(`${count} processes, round ${round + 1}: ${lost} records lost`)
            showProgress(`does not count: ${voidRounds.at(-1)}`)
          }
        }
      }
      const together = [...samples].map(([count, ofCount]) => {
        const spreads = ofCount.spreads()
        return [count, Object.keys(spreads).length === 0 ? null : spreads]
      })
      return { rounds, voidRounds, together: Object.fromEntries(together) }
    })
  },

  /** @param {Result} result */
  lines({ rounds, voidRounds, together }) {
    return [
      'HTTP records, spool on, one folder for all; CPU of the whole processes; median (min to max). Every record that counts was acknowledged',
      ...voidRounds.map((round) => `does not count: ${round}`),
      '',
      ...table([
        HEAD,
        ...Object.entries(together).map(([count, of]) => [
          title(count),
          ...(of === null ? [`none of ${rounds} rounds counts`] : row(of, together['1'] ?? of)),
        ]),
      ]),
    ]
  },

  /** @param {Result} result */
  charts({ together }) {
    const bars = (/** @type {'recordsPerSecond' | 'cpuUs'} */ what) =>
      Object.entries(together).map(([count, of]) => ({
        label: title(count),
        isOurs: true,
        ...(of === null ? LOST : bar(of[what])),
      }))
    const subtitle = 'HTTP records, spool on, one folder for all'
    return {
      'processes.svg': barChart({
        title: 'Processes that log concurrently',
        subtitle,
        unit: 'entries acknowledged per second, in all',
        groups: [{ label: '', bars: bars('recordsPerSecond') }],
      }),
      'processes-cpu.svg': barChart({
        title: 'CPU per entry, of processes that log concurrently',
        subtitle,
        unit: 'µs of CPU per entry, all threads',
        groups: [{ label: '', bars: bars('cpuUs') }],
      }),
    }
  },
}

/** @param {{ count: number, url: string, seconds: number, warmUp: number }} settings */
async function measureTogether({ count, url, seconds, warmUp }) {
  const { dir, clean } = scratchFolder()
  const apps = Array.from({ length: count }, () =>
    start(new URL('./app.mjs', import.meta.url), [url, dir, String(warmUp)]),
  )
  /** @param {string} words @returns {Promise<any[]>} */
  const askAll = (words) => Promise.all(apps.map((app) => app.ask(words)))
  await Promise.all(apps.map((app) => app.first))
  /** @type {Run[]} */
  const runs = await askAll(String(seconds))
  /** @type {{ lost: number, peakMib: number }[]} */
  const ends = await askAll('end')
  clean()
  const sum = (/** @type {readonly number[]} */ numbers) => numbers.reduce((total, one) => total + one, 0)
  const rates = runs.map((run) => run.recordsPerSecond)
  return {
    lost: sum(ends.map((end) => end.lost)),
    values: {
      recordsPerSecond: sum(rates),
      cpuUs: sum(runs.map((run) => run.cpuUs)) / sum(runs.map((run) => run.records)),
      peakMib: Math.max(...ends.map((end) => end.peakMib)),
      share: (Math.min(...rates) * count) / sum(rates),
    },
  }
}

/** @param {string} count */
function title(count) {
  return count === '1' ? '1 process' : `${count} processes`
}

/** @param {Together} of @param {Together} alone */
function row({ recordsPerSecond, cpuUs, peakMib, share }, alone) {
  return [
    cell(recordsPerSecond, whole),
    us(recordsPerSecond.median / alone.recordsPerSecond.median),
    cell(cpuUs),
    us(cpuUs.median / alone.cpuUs.median),
    cell(peakMib, whole),
    whole(share.median * 100),
  ]
}

/** @param {number} value */
function whole(value) {
  return Math.round(value).toLocaleString('en')
}
