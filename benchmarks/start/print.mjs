/** Prints the result of `start` as tables and charts. */
import { barChart } from '../tools/chart.mjs'
import { bar, cell, table } from '../tools/table.mjs'

/**
 * @typedef {import('./question.mjs').Start} Start
 * @typedef {import('./question.mjs').Installed} Installed
 */

const KIB = 1024
const MIB = KIB * KIB
/** A bar this many times longer than the next one is written as a number. */
const OFF_SCALE = 3
const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US')
const mib = (/** @type {number} */ bytes) => (bytes / MIB).toFixed(2)

const COLUMNS = /** @type {const} */ ([
  ['ready ms', 'readyMs'],
  ['since process start ms', 'processMs'],
  ['CPU ms', 'cpuMs'],
  ['memory MiB', 'rssMib'],
  ['first answer ms', 'firstMs'],
])

/** @param {readonly Start[]} starts the empty worker comes first @returns {string[]} */
export function startLines(starts) {
  const [empty] = starts
  const more = (/** @type {Start} */ { spreads }, /** @type {'cpuMs' | 'rssMib'} */ key) => {
    const [own, floor] = [spreads[key], empty?.spreads[key]]
    return own === undefined || floor === undefined ? '' : whole(own.median - floor.median)
  }
  return [
    'median (min to max); ready and first answer since pino.transport(), in-process since the import; CPU and memory of the process when it is ready',
    '',
    ...table([
      ['', ...COLUMNS.map(([title]) => title), 'of it set to wait ms', 'CPU ms above the empty worker', 'MiB above it'],
      ...starts.map((start) => [
        start.name,
        ...COLUMNS.map(([, key]) => cell(start.spreads[key], whole)),
        start.waitMs === undefined ? '' : String(start.waitMs),
        ...(start === empty ? [] : [more(start, 'cpuMs'), more(start, 'rssMib')]),
      ]),
    ]),
    ...starts.flatMap(({ name, void: none }) => none.map((why) => `does not count: ${name}, ${why}`)),
  ]
}

/** @param {readonly Installed[]} installed pino alone comes first @returns {string[]} */
export function sizeLines([pino, ...others]) {
  if (pino === undefined) return []
  return [
    'What npm install adds to a folder that has pino',
    '',
    ...table([
      ['', 'tarball KiB', 'MiB', 'files', 'packages', 'install scripts', 'in all with pino MiB'],
      ...others.map((one) => [
        `${one.name} ${one.version}`,
        one.tarballBytes === undefined ? '' : whole(one.tarballBytes / KIB),
        mib(one.bytes - pino.bytes),
        whole(one.files - pino.files),
        String(one.packages - pino.packages),
        one.installScripts.join(' ') || 'none',
        mib(one.bytes),
      ]),
    ]),
    '',
    'The largest packages in each, MiB',
    ...others.map(
      ({ name, largest }) => `${name}: ${largest.map((one) => `${one.name} ${mib(one.bytes)}`).join(', ')}`,
    ),
  ]
}

/** @param {readonly Start[]} starts */
export function startChart(starts) {
  const bars = (/** @type {'readyMs' | 'firstMs'} */ key) => {
    const [, second = Infinity] = starts.flatMap(({ spreads }) => spreads[key]?.median ?? []).toSorted((a, b) => b - a)
    return starts
      .filter(({ waitMs }) => key === 'readyMs' || waitMs !== undefined)
      .map(({ name, isOurs, waitMs, spreads }) => {
        const spread = spreads[key]
        if (spread === undefined) return { label: name, isOurs, value: NaN, note: 'no round counts' }
        // Next to a bar of that length all others would look the same.
        if (spread.median > OFF_SCALE * second)
          return { label: name, isOurs, value: NaN, note: `${whole(spread.median)}, too long for this scale` }
        return { label: name, isOurs, ...bar(spread), ...(key === 'firstMs' && { note: `set to wait ${waitMs}` }) }
      })
  }
  return barChart({
    title: 'How long a transport takes to start',
    subtitle: "Less is better. Fresh processes, with the files in the system's cache.",
    unit: 'ms since pino.transport() or the import',
    groups: [
      { label: 'Until it is ready', bars: bars('readyMs') },
      { label: 'Until its first record is answered', bars: bars('firstMs') },
    ],
  })
}

/** @param {readonly Installed[]} installed pino alone comes first */
export function sizeChart([pino, ...others]) {
  const inAll = (/** @type {number} */ packages) => `${packages} package${packages === 1 ? '' : 's'}`
  return barChart({
    title: 'What an installation adds',
    subtitle: 'Less is better. To a folder that has pino.',
    unit: 'MiB of files',
    groups: [
      {
        label: '',
        bars: others.map(({ name, isOurs, bytes, packages }) => ({
          label: name,
          isOurs,
          value: (bytes - (pino?.bytes ?? 0)) / MIB,
          note: inAll(packages - (pino?.packages ?? 0)),
        })),
      },
    ],
  })
}
