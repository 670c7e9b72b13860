/** The tables of docs/benchmarks.md, from the stored results: ratios first. Pure. */
import { ratioOf, written } from '../peers/ratios.mjs'

/**
 * @typedef {import('./results.mjs').Kept} Kept
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {import('../peers/run.mjs').Measured} Measured
 * @typedef {Partial<Record<'throughput' | 'network' | 'rates', Kept>>} Stored
 */

export const BEGIN = '<!-- written by `npm run bench -- --readme` -->'
export const END = '<!-- end of what is written -->'

/** Charts among the results; the package has copies of them in `docs/images`. */
export const PICTURES = [
  { shows: 'Entries acknowledged per second, relative to the best peer', file: 'throughput-ratios.svg' },
  { shows: "CPU of pino's worker per entry, relative to the best peer", file: 'throughput-cpu-ratios.svg' },
]
const OURS = 'spool on'
const STATES = { cold: 'the first records of a process', warm: 'after 100,000 records' }
const SHAPES = { small: 'lines', http: 'requests', error: 'errors', mix: 'the mix' }
const MOST = /** @type {const} */ (['entriesPerSecond', 'most'])
const LEAST = /** @type {const} */ ([
  ['workerUs', 'least'],
  ['peakMib', 'least'],
])

/** @param {string} page @param {Stored} stored @returns {string} @throws RangeError without the marks */
export function withResults(page, stored) {
  const from = page.indexOf(BEGIN)
  const until = page.indexOf(END)
  if (from === -1 || until < from) throw new RangeError(`docs/benchmarks.md has no ${BEGIN} before ${END}`)
  return `${page.slice(0, from + BEGIN.length)}\n\n${markdownOf(stored)}\n\n${page.slice(until)}`
}

/** @param {Stored} stored @returns {string} @throws RangeError where a result has no rounds to take ratios of */
export function markdownOf({ throughput, network, rates }) {
  for (const kept of [throughput, network, rates]) if (kept !== undefined) checkRounds(kept)
  return [
    ...(throughput === undefined ? [] : [pictures(), ratioTable(throughput, network), numberTable(throughput)]),
    ...(rates === undefined ? [] : [rateTable(rates)]),
  ].join('\n\n')
}

function pictures() {
  return PICTURES.map(({ shows, file }) => `![${shows}](images/${file})`).join('\n')
}

/** @param {Kept} kept */
function checkRounds({ question, result }) {
  const { delays = {}, cold = {}, warm = {}, ...others } = result
  const tables = { ...delays, ...cold, ...warm, ...(question === 'rates' && others) }
  const rows = Object.values(tables).flat()
  if (rows.length === 0 || rows.some(({ runs }) => runs === undefined))
    throw new RangeError(`the result of ${question} has no rounds: measure it again with npm run bench -- ${question}`)
}

/** @param {Kept} throughput @param {Kept | undefined} network */
function ratioTable({ result, options, machine, versions, date }, network) {
  const loads = Object.entries(STATES).flatMap(([state, when]) =>
    Object.entries(SHAPES).flatMap(([shape, what]) => {
      const rows = result[state]?.[shape]
      return rows === undefined ? [] : [{ label: `${what}, ${when}`, rows }]
    }),
  )
  const delays = Object.entries(network?.result.delays ?? {}).map(([delay, rows]) => ({
    label: `requests, a service that answers after ${delay}${network?.options['rounds'] === options['rounds'] ? '' : ` (rounds: ${network?.options['rounds']})`}`,
    rows: /** @type {Row[]} */ (rows),
  }))
  return [
    `Relative to the best peer of each round, with the spool on and all other options at their defaults: median of ${options['rounds']} rounds (minimum to maximum),`,
    `on ${machine.cpu}, ${machine.cores} cores, Node ${versions.node}, ${date}.`,
    '',
    '| | entries per second | CPU of the worker | peak memory |',
    '|---|---|---|---|',
    ...[...loads, ...delays].map(({ label, rows }) => `| ${[label, ...ratiosOf(rows)].join(' | ')} |`),
  ].join('\n')
}

/** @param {readonly Row[]} rows @returns {string[]} */
function ratiosOf(rows) {
  const ours = rows.find(({ name }) => name === OURS)
  return [MOST, ...LEAST].map(([key, better]) => {
    const ratio = ours && ratioOf(rows, ours, key, better)
    return ratio === undefined ? '' : written(ratio)
  })
}

/** @param {Kept} throughput */
function numberTable({ result }) {
  const shapes = Object.keys(SHAPES).filter((shape) => Object.keys(STATES).some((state) => result[state]?.[shape]))
  const line = (/** @type {string} */ label, /** @type {string} */ state, /** @type {(rows: Row[]) => string} */ of) =>
    `| ${[`${label}, ${STATES[/** @type {keyof typeof STATES} */ (state)]}`, ...shapes.map((shape) => (result[state]?.[shape] ? of(result[state][shape]) : ''))].join(' | ')} |`
  return [
    `| entries per second · CPU of the worker per entry | ${shapes.map((shape) => SHAPES[/** @type {keyof typeof SHAPES} */ (shape)]).join(' | ')} |`,
    `|---|${shapes.map(() => '---|').join('')}`,
    ...Object.keys(STATES)
      .filter((state) => result[state] !== undefined)
      .flatMap((state) => [
        line('pino-ingest with its defaults', state, (rows) => numbersOf(rows.filter(({ name }) => name === OURS))),
        line('without the spool', state, (rows) => numbersOf(rows.filter(({ name }) => name === 'spool off'))),
        line('the best peer of each column', state, (rows) => numbersOf(rows.filter(({ isPeer }) => isPeer))),
      ]),
  ].join('\n')
}

/** The most entries per second, the least CPU. @param {readonly Row[]} rows */
function numbersOf(rows) {
  const of = (/** @type {keyof Measured} */ key) => rows.flatMap(({ spreads }) => spreads[key]?.median ?? [])
  const [perSecond, workerUs] = [of('entriesPerSecond'), of('workerUs')]
  if (perSecond.length === 0) return ''
  return `${rounded(Math.max(...perSecond))} · ${Math.min(...workerUs).toFixed(1)} µs`
}

/** @param {number} perSecond */
function rounded(perSecond) {
  return Number(perSecond.toPrecision(3)).toLocaleString('en-US')
}

/** @param {Kept} rates */
function rateTable({ result, options }) {
  /** @typedef {import('../rates/question.mjs').Row} RateRow */
  const lines = Object.entries(result).map(([perSecond, all]) => {
    const rows = /** @type {RateRow[]} */ (all)
    const ours = rows.find(({ name }) => name === OURS)
    const inTime = rows.filter(({ isPeer, spreads }) => isPeer && (spreads.delayP99Ms?.median ?? Infinity) <= 2000)
    const ratio = ours && ratioOf(inTime, ours, 'cpuMs', 'least')
    const cpu = (/** @type {RateRow | undefined} */ row) =>
      row?.spreads.cpuMs === undefined ? '' : `${row.spreads.cpuMs.median.toFixed(1)} ms`
    const least = inTime.toSorted((a, b) => (a.spreads.cpuMs?.median ?? 0) - (b.spreads.cpuMs?.median ?? 0))[0]
    const requests = ours?.spreads.requests?.median.toFixed(1) ?? ''
    const dropping = rows.find(({ name }) => name === 'a worker that drops all')
    const cells = [
      Number(perSecond).toLocaleString('en-US'),
      ratio === undefined ? '' : written(ratio),
      cpu(ours),
      least === undefined ? '' : `${cpu(least)} (${least.name})`,
      cpu(dropping),
      requests,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `At low rates, for ${options['seconds']} s each, compared with the peers that deliver within 2 s:`,
    '',
    '| records per second | CPU relative to the lowest peer | CPU per second | lowest peer | a worker that drops everything | requests per second |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}
