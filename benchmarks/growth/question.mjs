/** Measures whether the cost of a record grows with the number of records before it. */
import { lineChart } from '../tools/chart.mjs'
import { start, withSink } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { spread } from '../tools/statistics.mjs'
import { cell, table, us } from '../tools/table.mjs'

/**
 * @typedef {import('./app.mjs').Stretch} Stretch
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {{ stretches: Stretch[], lost: number }} Result
 */

const STEP = 500_000
/** The steps of the table below the first step; each is compared with those above it. */
const FIRST_MARKS = [10_000, 20_000, 50_000, 100_000, 200_000]
const DECADES = [10_000, 100_000, 1_000_000, 10_000_000]

export const question = {
  name: 'growth',
  asks: 'Does the cost of a record grow with the number of records before it?',
  needsLinux: true,
  options: { records: 10_000_000 },
  quick: { records: 500_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { records = 0 }, showProgress }) {
    return withSink(async (url) => {
      const { dir, clean } = scratchFolder()
      const app = start(new URL('./app.mjs', import.meta.url), [url, dir])
      await app.first
      /** @type {Stretch[]} */
      const stretches = []
      for (const until of marksUpTo(records)) {
        stretches.push(await app.ask(String(until)))
        showProgress(`${until.toLocaleString('en')} of ${records.toLocaleString('en')} records`)
      }
      const { lost } = await app.ask('end')
      clean()
      return { stretches, lost }
    })
  },

  /** @param {Result} result */
  lines({ stretches, lost }) {
    const isMarked = (/** @type {Stretch} */ { records }, /** @type {number} */ n) =>
      DECADES.includes(records) || n === stretches.length - 1
    return [
      'small records, spool on: the stretch that ends at this number of records. Memory and spool: maximum within it; heaps: minimum',
      lost === 0 ? 'no record was lost' : `does not count: ${lost} records lost`,
      '',
      ...table([HEAD, ...stretches.filter(isMarked).map(row)]),
      '',
      ...sentencesOf(stretches),
    ]
  },

  /** @param {Result} result */
  charts({ stretches }) {
    const points = (/** @type {keyof Stretch} */ key) =>
      stretches.map((stretch) => /** @type {[number, number]} */ ([stretch.records, stretch[key]]))
    const x = { label: 'records logged', isLog: true }
    const upTo = `${(stretches.at(-1)?.records ?? 0).toLocaleString('en')} records`
    return {
      'growth.svg': lineChart({
        title: `The cost of a record, from the first to ${upTo}`,
        subtitle: 'One process, small records, spool on. The first stretches include start and compilation',
        x,
        y: { label: 'µs of CPU per record' },
        series: [
          { label: 'worker thread', points: points('workerUs'), isOurs: true },
          { label: 'main thread', points: points('mainUs') },
        ],
      }),
      'growth-memory.svg': lineChart({
        title: `Memory and disk, from the first to ${upTo}`,
        subtitle: 'One process, small records, spool on',
        x,
        y: { label: 'MiB' },
        series: [
          { label: 'process (RSS)', points: points('rssMib'), isOurs: true },
          { label: "worker's heap", points: points('workerHeapMib') },
          { label: "main thread's heap", points: points('mainHeapMib') },
          { label: 'spool folder', points: points('spoolMib') },
        ],
      }),
    }
  },
}

/** @param {number} records @returns {number[]} */
function marksUpTo(records) {
  const steps = Array.from({ length: Math.floor(records / STEP) }, (_, n) => (n + 1) * STEP)
  return [...new Set([...FIRST_MARKS.filter((mark) => mark < records), ...steps, records])]
}

const HEAD = [
  'records',
  'worker µs',
  'main µs',
  'V8, libuv µs',
  'records/s',
  'RSS MiB',
  'worker heap',
  'main heap',
  'spool files',
  'spool MiB',
]

/** @param {Stretch} stretch */
function row(stretch) {
  return [
    stretch.records.toLocaleString('en'),
    us(stretch.workerUs),
    us(stretch.mainUs),
    us(stretch.othersUs),
    Math.round(stretch.recordsPerSecond).toLocaleString('en'),
    ...[stretch.rssMib, stretch.workerHeapMib, stretch.mainHeapMib].map((mib) => mib.toFixed(0)),
    String(stretch.spoolFiles),
    stretch.spoolMib.toFixed(1),
  ]
}

/**
 * Compares the first third of the steps with the last, since a single step is noise. @param {readonly Stretch[]}
 * stretches
 */
function sentencesOf(stretches) {
  const steps = stretches.filter(({ records }) => records % STEP === 0)
  const third = Math.floor(steps.length / 3)
  if (third === 0) return ['growth shows from three steps of 500,000 records on']
  const compared = (/** @type {keyof Stretch} */ key) => {
    const of = (/** @type {readonly Stretch[]} */ part) => spread(part.map((stretch) => stretch[key]))
    return { early: of(steps.slice(0, third)), late: of(steps.slice(-third)) }
  }
  return [
    sentence('worker µs per record', compared('workerUs')),
    sentence('main µs per record', compared('mainUs')),
    sentence('RSS MiB', compared('rssMib')),
    sentence('worker heap MiB', compared('workerHeapMib')),
    sentence('main heap MiB', compared('mainHeapMib')),
  ]
}

/** @param {string} what @param {{ early: Spread, late: Spread }} compared */
function sentence(what, { early, late }) {
  return `${what}: first third ${cell(early)}, last third ${cell(late)}, ${(late.median / early.median).toFixed(2)} times`
}
