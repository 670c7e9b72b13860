/** The numbers in README.md and docs, generated from the stored results. Ratios come first. Pure. */
import { ratioOf, formatRatio } from '../peers/ratios.mjs'
import { cell } from './table.mjs'

/**
 * @typedef {import('./results.mjs').Kept} Kept
 * @typedef {import('./statistics.mjs').Spread} Spread
 * @typedef {import('../peers/compare.mjs').Row} Row
 * @typedef {import('../peers/run.mjs').Measured} Measured
 * @typedef {(name: string) => Kept} Stored the result of a question
 */

/** Pages with blocks between `<!-- results: NAME -->` and `<!-- /results -->`. */
export const PAGES = ['README.md', 'docs/performance.md', 'docs/fleet-operations.md']
/** Charts among the results; the package has copies of them in `docs/images`. */
export const PICTURES = {
  'throughput-ratios.svg': 'Entries acknowledged per second, relative to the best peer',
  'throughput-cpu-ratios.svg': "CPU of pino's worker per entry, relative to the best peer",
}
export const BLOCK = /(<!-- results: ([\w-]+) -->\n)[\s\S]*?(<!-- \/results -->)/g

const OURS = 'spool on'
const STATES = { cold: 'first records', warm: 'after 100,000' }
const SHAPES = { small: 'lines', http: 'requests', error: 'errors', mix: 'the mix' }
const MOST = /** @type {const} */ (['entriesPerSecond', 'most'])
const LEAST = /** @type {const} */ ([
  ['workerUs', 'least'],
  ['peakMib', 'least'],
])

/** @type {Record<string, (stored: Stored) => string[]>} lines by name of the block */
export const BLOCKS = { summary, throughput, costs, growth, 'main-thread': mainThread, start, fleet }

/** @param {string} page @param {Stored} stored @returns {string} @throws RangeError for an unknown block or a result without rounds */
export function withResults(page, stored) {
  return page.replaceAll(BLOCK, (_all, begin, name, end) => {
    const linesOf = BLOCKS[name]
    if (linesOf === undefined)
      throw new RangeError(`there is no block ${name}; use one of: ${Object.keys(BLOCKS).join(', ')}`)
    return `${begin}${linesOf(stored).join('\n')}\n${end}`
  })
}

/** @param {Stored} stored */
function summary(stored) {
  const { result, options, ...where } = stored('throughput')
  const [[entries, entriesRange], [cpu, cpuRange]] = ratiosOf(result.warm.mix).map((ratio) => ratio.split(/ \((.*)\)/))
  return [
    `pino-ingest sends ${entries} times as many entries per second as the best peer (another transport), and uses ${cpu} times its worker's CPU per entry.`,
    `Medians of ${options['rounds']} rounds after 100,000 mixed records; the ranges are ${entriesRange} and ${cpuRange} (${placeOf(where)}).`,
  ]
}

/** @param {Stored} stored */
function throughput(stored) {
  const { result, options, ...where } = stored('throughput')
  const loads = Object.entries(STATES).flatMap(([state, when]) =>
    Object.entries(SHAPES).map(([shape, what]) => ({ label: `${what}, ${when}`, rows: result[state][shape] })),
  )
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
      loads.map(({ label, rows }) => [label, ...ratiosOf(rows)]),
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

/** @param {readonly Row[]} rows @returns {string[]} */
function ratiosOf(rows) {
  const ours = rows.find(({ name }) => name === OURS)
  return [MOST, ...LEAST].map(([key, better]) => {
    const ratio = ours && ratioOf(rows, ours, key, better)
    if (ratio === undefined) throw new RangeError('a result has no rounds to take ratios of: measure it again')
    return formatRatio(ratio)
  })
}

/** The most entries per second, the least CPU. @param {readonly Row[]} rows */
function numbersOf(rows) {
  const of = (/** @type {keyof Measured} */ key) => rows.flatMap(({ spreads }) => spreads[key]?.median ?? [])
  return `${number(Math.max(...of('entriesPerSecond')))} · ${Math.min(...of('workerUs')).toFixed(1)} µs`
}

/** What the transport costs at low rates, in all and by thread, and beside the peers that deliver within 2 s. @param {Stored} stored */
function costs(stored) {
  /** @typedef {import('../rates/question.mjs').Row} CostRow */
  const { result, options, ...where } = stored('rates')
  const lines = Object.entries(result).flatMap(([perSecond, all]) => {
    const rows = /** @type {CostRow[]} */ (all)
    const ours = rows.find(({ name }) => name === OURS)
    const inTime = rows.filter(({ isPeer, spreads }) => isPeer && (spreads.delayP99Ms?.median ?? Infinity) <= 2000)
    const ratio = ours && ratioOf(inTime, ours, 'cpuMs', 'least')
    const [least] = inTime.toSorted((a, b) => (a.spreads.cpuMs?.median ?? 0) - (b.spreads.cpuMs?.median ?? 0))
    return [OURS, 'a worker that drops all'].map((shown) => {
      const row = rows.find(({ name }) => name === shown)
      const ms = (/** @type {keyof CostRow['spreads']} */ key) => `${row?.spreads[key]?.median.toFixed(1)} ms`
      const isOurs = shown === OURS
      return [
        isOurs ? number(Number(perSecond)) : `${number(Number(perSecond))}, a worker that drops everything`,
        ms('cpuMs'),
        isOurs ? `${ratio?.median.toFixed(2)} (${least?.name})` : '',
        ms('mainMs'),
        ms('workerMs'),
        ms('othersMs'),
        number(row?.spreads.wakeUps?.median ?? NaN),
        isOurs ? number(row?.spreads.requests?.median ?? NaN) : '',
        isOurs ? `${ms('delayP50Ms')}, ${ms('delayP99Ms')}` : '',
      ]
    })
  })
  return [
    '',
    `Per second, measured for ${options['seconds']} s each, ${placeOf(where)}:`,
    '',
    ...tableOf(
      [
        'records per second',
        'CPU',
        'relative to the lowest peer',
        'main thread',
        'worker',
        'other threads',
        'wake-ups',
        'requests',
        'log call to reply, median and p99',
      ],
      lines,
    ),
    '',
  ]
}

/** Memory and disk after so many records. @param {Stored} stored */
function growth(stored) {
  const { result, ...where } = stored('growth')
  const shown = [10_000, 100_000, 1_000_000, 10_000_000]
  const stretches = /** @type {Record<string, number>[]} */ (result.stretches)
  return [
    '',
    ...tableOf(
      [
        'records logged',
        'memory of the process',
        'heap of the worker',
        'heap of the main thread',
        'files of the spool',
        'size of the spool',
      ],
      stretches
        .filter(({ records }) => records !== undefined && shown.includes(records))
        .map((one) => [
          Number(one['records']).toLocaleString('en-US'),
          ...['rssMib', 'workerHeapMib', 'mainHeapMib'].map((key) => `${Math.round(one[key] ?? NaN)} MiB`),
          String(one['spoolFiles']),
          `${(one['spoolMib'] ?? NaN).toFixed(1)} MiB`,
        ]),
    ),
    '',
    `${placeOf(where)}.`,
    '',
  ]
}

/** @param {Stored} stored */
function mainThread(stored) {
  const { result, options, ...where } = stored('main-thread')
  const lines = Object.entries(SHAPES).flatMap(([shape, what]) =>
    Object.entries(result.shapes[shape] ?? {}).map(
      ([
        rate,
        {
          variants: { ours, helpers },
        },
      ]) => [
        `${what}, ${number(Number(rate))} per second`,
        ...[ours, helpers].flatMap(({ times, moreP99Ms }) => [formatRatio(times), `${moreP99Ms.median.toFixed(1)} ms`]),
      ],
    ),
  )
  return [
    '',
    ...tableOf(
      ['', 'CPU per log call', 'p99 of the delay', 'CPU with `ingestOptions()`', 'p99 with `ingestOptions()`'],
      lines,
    ),
    '',
    `Medians of ${options['rounds']} rounds (minimum to maximum), ${placeOf(where)}.`,
    '',
  ]
}

/** @param {Stored} stored */
function start(stored) {
  /** @typedef {import('../start/question.mjs').Start} Start */
  const { result, options, ...where } = stored('start')
  const starts = /** @type {Start[]} */ (result.starts)
  const [pino, own, ...peers] = /** @type {import('../start/question.mjs').Installed[]} */ (result.installed)
  const of = (/** @type {(start: Start) => boolean} */ isShown) => starts.filter(isShown)
  const [empty] = starts
  const rows = /** @type {const} */ ([
    ['pino-ingest', of(({ name }) => name === 'pino-ingest'), [own]],
    [`the ${peers.length} peers`, of((one) => one !== empty && !one.isOurs), peers],
  ])
  const toRange = (
    /** @type {number[]} */ values,
    /** @type {(value: number) => string} */ form,
    /** @type {string} */ unit,
  ) => `${[...new Set([Math.min(...values), Math.max(...values)].map(form))].join(' to ')} ${unit}`
  const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US')
  return [
    '',
    `Medians of ${options['rounds']} rounds, ${placeOf(where)}. An empty worker is ready after ${whole(empty?.spreads.readyMs?.median ?? NaN)} ms.`,
    '',
    ...tableOf(
      [
        '',
        'ready after `pino.transport()`',
        'first record acknowledged',
        'CPU above an empty worker',
        'memory above it',
        '`npm install` adds',
      ],
      rows.map(([label, some, installed]) => {
        const values = (/** @type {keyof Start['spreads']} */ key, floor = 0) =>
          some.map(({ spreads }) => (spreads[key]?.median ?? NaN) - floor)
        const sizes = installed.flatMap((one) =>
          one && pino ? [{ mib: (one.bytes - pino.bytes) / 2 ** 20, packages: one.packages - pino.packages }] : [],
        )
        return [
          label,
          toRange(values('readyMs'), whole, 'ms'),
          toRange(values('firstMs'), whole, 'ms'),
          toRange(values('cpuMs', empty?.spreads.cpuMs?.median), whole, 'ms'),
          toRange(values('rssMib', empty?.spreads.rssMib?.median), whole, 'MiB'),
          `${toRange(
            sizes.map(({ mib }) => mib),
            (mib) => mib.toFixed(1),
            'MiB',
          )}, ${toRange(
            sizes.map(({ packages }) => packages),
            String,
            'packages',
          )}`,
        ]
      }),
    ),
    '',
  ]
}

/** @param {Stored} stored */
function fleet(stored) {
  const {
    result: { ways, ratios, forwarders, takeUpMs },
    options,
    ...where
  } = stored('fleet')
  const setups = ['direct', 'one node', 'three nodes']
  const row = (
    /** @type {string} */ label,
    /** @type {typeof ways} */ of,
    /** @type {string} */ key,
    /** @type {(value: number) => string} */ form,
    base = '',
  ) => [label, ...setups.map((setup) => (of === ratios && setup === 'direct' ? base : cell(of[setup][key], form)))]
  const us = (/** @type {number} */ value) => value.toFixed(1)
  const ratio = (/** @type {number} */ value) => value.toFixed(2)
  const counts = Object.keys(forwarders)
  return [
    '',
    ...tableOf(
      ['', 'direct', 'one server', 'three servers'],
      [
        row('entries published and at the same time delivered per second', ways, 'deliveredPerSecond', number),
        row('relative to direct, same round', ratios, 'deliveredPerSecond', ratio, '1'),
        row('entries acknowledged per second, without a forwarder', ways, 'recordsPerSecond', number),
        row('relative to direct, same round', ratios, 'recordsPerSecond', ratio, '1'),
        row("CPU of the application's worker, µs per entry", ways, 'workerUs', us),
        row("CPU of the application's main thread, relative to direct, same round", ratios, 'mainUs', ratio, '1'),
        row('additional application CPU, µs per entry', ratios, 'moreUs', us, '0'),
        row('CPU of all servers, µs per entry', ways, 'serversUs', us),
        row('CPU of the forwarder, µs per entry', ways, 'forwardUs', us),
      ],
    ),
    '',
    ...tableOf(
      ['forwarders, service that answers after 100 ms, 8 requests in flight each', ...counts],
      [['batches delivered per second', ...counts.map((count) => cell(forwarders[count].batchesPerSecond, number))]],
    ),
    '',
    `A new forwarder sends its first request after ${number(takeUpMs.median)} ms (${number(takeUpMs.min)} to ${number(takeUpMs.max)}).`,
    `Medians of ${options['rounds']} rounds (minimum to maximum), ${placeOf(where)}.`,
    '',
  ]
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function tableOf(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`.replaceAll(/\|  (?=\|)/g, '| ')
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)]
}

/** @param {Pick<Kept, 'machine' | 'versions' | 'commit' | 'date'>} where */
function placeOf({ machine, versions, commit, date }) {
  return `${machine.cpu}, ${machine.cores} cores, Node ${versions.node}, commit ${commit}, ${date}`
}

/** Three significant digits. @param {number} value */
function number(value) {
  return Number(value.toPrecision(3)).toLocaleString('en-US')
}
