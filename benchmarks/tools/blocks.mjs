/** The blocks of the pages about pino-ingest itself. Pure. */
import { formatRatio } from '../peers/ratios.mjs'
import { SHAPES, number, placeOf, tableOf } from './markdown.mjs'
import { cell } from './table.mjs'

/** @typedef {import('./pages.mjs').Stored} Stored */

/** Memory and disk after so many records. @param {Stored} stored */
export function growth(stored) {
  const { result, ...where } = stored('growth')
  const shown = [10_000, 100_000, 1_000_000, 10_000_000]
  const stretches = /** @type {Record<string, number>[]} */ (result.stretches)
  return [
    '',
    ...tableOf(
      ['records logged', 'memory of the process', 'size of the spool'],
      stretches
        .filter(({ records }) => records !== undefined && shown.includes(records))
        .map(({ records = NaN, rssMib = NaN, spoolMib = NaN }) => [
          records.toLocaleString('en-US'),
          `${Math.round(rssMib)} MiB`,
          `${spoolMib.toFixed(1)} MiB`,
        ]),
    ),
    '',
    `${placeOf(where)}.`,
    '',
  ]
}

/** @param {Stored} stored */
export function mainThread(stored) {
  const { result, options, ...where } = stored('main-thread')
  const lines = Object.entries(SHAPES).flatMap(([shape, what]) => {
    const of = result.shapes[shape]
    return of === null || of === undefined
      ? []
      : [
          [
            what,
            ...[of.ours, of.helpers].flatMap(({ times, moreP99Ms }) => [
              formatRatio(times),
              `${moreP99Ms.median.toFixed(1)} ms`,
            ]),
          ],
        ]
  })
  if (lines.length === 0) throw new RangeError('a result has no rounds: measure it again')
  return [
    '',
    ...tableOf(
      [
        '20,000 calls per second',
        'CPU per log call',
        'p99 of the delay',
        'CPU with `ingestOptions()`',
        'p99 with `ingestOptions()`',
      ],
      lines,
    ),
    '',
    `Medians of ${options['rounds']} rounds (minimum to maximum), ${placeOf(where)}.`,
    '',
  ]
}

/** @param {Stored} stored */
export function start(stored) {
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
export function fleet(stored) {
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
