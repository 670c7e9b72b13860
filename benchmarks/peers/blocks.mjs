/** The blocks of the pages that compare with peers. Ratios come first. Pure. */
import { OURS, SHAPES, measuredOr, number, placeOf, tableOf } from '../tools/markdown.mjs'
import { formatRatio, ratioOf } from './ratios.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('../tools/pages.mjs').Stored} Stored
 * @typedef {import('./compare.mjs').Row} Row
 * @typedef {import('./run.mjs').Measured} Measured
 */

/** Charts among the results; the package has copies of them in `docs/images`. */
export const PICTURES = {
  'throughput-ratios.svg': 'Entries acknowledged per second, relative to the best peer',
  'throughput-cpu-ratios.svg': "CPU of pino's worker per entry, relative to the best peer",
}
const STATES = { cold: 'first records', warm: 'after 100,000' }
const MOST = /** @type {const} */ (['entriesPerSecond', 'most'])
const LEAST = /** @type {const} */ ([
  ['workerUs', 'least'],
  ['peakMib', 'least'],
])

/** @param {Stored} stored */
export function summary(stored) {
  const { result, options, ...where } = stored('throughput')
  const [entries, cpu] = spreadsOf(result.warm.mix)
  const [times, timesCpu] = [entries, cpu].map((one) => one?.median.toFixed(2))
  const [range, rangeCpu] = [entries, cpu].map((one) => `${one?.min.toFixed(2)} to ${one?.max.toFixed(2)}`)
  return [
    `pino-ingest sends ${times} times as many entries per second as the best peer (another transport), and uses ${timesCpu} times its worker's CPU per entry.`,
    `Medians of ${options['rounds']} rounds after 100,000 mixed records; the ranges are ${range} and ${rangeCpu} (${placeOf(where)}).`,
  ]
}

/** @param {Stored} stored */
export function throughput(stored) {
  const { result, options, ...where } = stored('throughput')
  const subjects = /** @type {[string, (row: Row) => boolean][]} */ ([
    ['pino-ingest', ({ name }) => name === OURS],
    ['best peer', ({ isPeer }) => isPeer],
  ])
  return [
    '',
    ...Object.entries(PICTURES).map(([file, shows]) => `![${shows}](images/${file})`),
    '',
    `Relative to the best peer of each round, with the spool on and all other options at their defaults: median of ${options['rounds']} rounds (minimum to maximum),`,
    `${placeOf(where)}.`,
    '',
    ...tableOf(
      ['', 'entries per second', 'CPU of the worker', 'peak memory'],
      loadsOf(result).map(({ label, rows }) => [label, ...ratiosOf(rows)]),
    ),
    '',
    ...tableOf(
      ['entries per second · CPU of the worker per entry', ...Object.values(SHAPES)],
      Object.entries(STATES).flatMap(([state, when]) =>
        subjects.map(([label, isShown]) => [
          `${label}, ${when}`,
          ...Object.keys(SHAPES).map((shape) => numbersOf(result[state][shape].filter(isShown))),
        ]),
      ),
    ),
    '',
  ]
}

/** @param {any} result of `throughput` @returns {{ label: string, rows: Row[] }[]} */
function loadsOf(result) {
  return Object.entries(STATES).flatMap(([state, when]) =>
    Object.entries(SHAPES).map(([shape, what]) => ({ label: `${what}, ${when}`, rows: result[state][shape] })),
  )
}

/** @param {readonly Row[]} rows @returns {string[]} */
function ratiosOf(rows) {
  return spreadsOf(rows).map(formatRatio)
}

/** Entries per second, CPU, memory. @param {readonly Row[]} rows @returns {Spread[]} relative to the best peer */
function spreadsOf(rows) {
  const ours = rows.find(({ name }) => name === OURS)
  return [MOST, ...LEAST].map(([key, better]) => measuredOr(ours && ratioOf(rows, ours, key, better)))
}

/** Where peers are better. @param {Stored} stored */
export function comparison(stored) {
  const better = loadsOf(stored('throughput').result).flatMap(({ label, rows }) => {
    const [entries, ...least] = spreadsOf(rows).map(({ median }) => median)
    return (entries ?? 0) < 1 || least.some((median) => median > 1) ? [label] : []
  })
  /** @type {Record<string, string[]>} rates by the peer that uses less CPU */
  const lessCpu = {}
  for (const { perSecond, ratio, least } of costsOf(stored('rates').result))
    if (ratio.median > 1) (lessCpu[least] ??= []).push(perSecond)
  const [, ours, ...starts] = /** @type {import('../start/question.mjs').Start[]} */ (stored('start').result.starts)
  const readyMs = (/** @type {typeof ours} */ one) => one?.spreads.readyMs?.median ?? Infinity
  const faster = starts.filter((one) => !one.isOurs && readyMs(one) < readyMs(ours)).map(({ name }) => name)
  return [
    better.length === 0
      ? 'At full load, pino-ingest sends more entries per second than the best peer, with less CPU and memory.'
      : `At full load, a peer is better with ${listOf(better)}.`,
    ...Object.entries(lessCpu).map(
      ([peer, rates]) =>
        `At ${listOf(rates)} ${rates.at(-1) === '1' ? 'record' : 'records'} per second, ${peer} uses less CPU.`,
    ),
    ...(faster.length === 0 ? [] : [`${listOf(faster)} ${faster.length === 1 ? 'starts' : 'start'} faster.`]),
  ]
}

/** @param {readonly string[]} names */
function listOf(names) {
  return new Intl.ListFormat('en-GB').format(names)
}

/** The most entries per second, the least CPU. @param {readonly Row[]} rows */
function numbersOf(rows) {
  const of = (/** @type {keyof Measured} */ key) => rows.flatMap(({ spreads }) => spreads[key]?.median ?? [])
  return `${number(Math.max(...of('entriesPerSecond')))} · ${Math.min(...of('workerUs')).toFixed(1)} µs`
}

/** What the transport costs at low rates, beside pino's own worker and the peers that deliver within 2 s. @param {Stored} stored */
export function costs(stored) {
  const { result, options, ...where } = stored('rates')
  const lines = costsOf(result).map(({ perSecond, ours, empty, ratio, least }) => {
    const ms = (/** @type {keyof CostRow['spreads']} */ key, of = ours) => `${of?.spreads[key]?.median.toFixed(1)} ms`
    return [
      perSecond,
      ms('cpuMs'),
      ms('cpuMs', empty),
      `${formatRatio(ratio)}, ${least}`,
      number(ours?.spreads.requests?.median ?? NaN),
      `${ms('delayP50Ms')}, ${ms('delayP99Ms')}`,
    ]
  })
  return [
    '',
    `Per second, medians of ${options['rounds']} rounds of ${options['seconds']} s, ${placeOf(where)}:`,
    '',
    ...tableOf(
      [
        'records per second',
        'CPU',
        'CPU with a worker that drops everything',
        'relative to the lowest peer',
        'requests',
        'log call to reply, median and p99',
      ],
      lines,
    ),
    '',
  ]
}

/** @typedef {import('../rates/question.mjs').Row} CostRow */

/** @param {Record<string, CostRow[]>} result of `rates`; `least`: the peer with the least CPU of those in time */
function costsOf(result) {
  return Object.entries(result).map(([perSecond, rows]) => {
    const ours = rows.find(({ name }) => name === OURS)
    const empty = rows.find(({ isPeer, isOurs }) => !isPeer && !isOurs)
    const inTime = rows.filter(({ isPeer, spreads }) => isPeer && (spreads.delayP99Ms?.median ?? Infinity) <= 2000)
    const ratio = measuredOr(ours && ratioOf(inTime, ours, 'cpuMs', 'least'))
    const [least] = inTime.toSorted((a, b) => (a.spreads.cpuMs?.median ?? 0) - (b.spreads.cpuMs?.median ?? 0))
    return { perSecond: number(Number(perSecond)), ours, empty, ratio, least: least?.name ?? '' }
  })
}
