/** The result as a person reads it. */

/**
 * @typedef {import('./tools/statistics.mjs').Spread} Spread
 * @typedef {import('./tools/shapes.mjs').Shape} Shape
 * @typedef {ReturnType<typeof import('./tools/surroundings.mjs').surroundings> & {
 *   stages: Awaited<ReturnType<typeof import('./stages/stages.mjs').measureStages>> | undefined,
 *   worker: Awaited<ReturnType<typeof import('./worker/worker.mjs').measureWorker>> | undefined,
 * }} Result
 */

/** Ours and what it is measured against. */
const STAGE_ROWS = [
  ['splitting, against split2', 'splitting: LineSplitter', 'splitting: split2'],
  ['splitting, against pino-abstract-transport', 'splitting: LineSplitter', 'splitting: pino-abstract-transport'],
  ['mapping', 'mapping: fast', 'mapping: reference'],
  ['batching', 'batching: fast', 'batching: reference'],
]
const HTTP_ROWS = ['HTTP: 4 in flight', 'HTTP: 32 in flight']
const WORKER_ROWS = [
  ['worker thread', 'workerUs'],
  ['main thread', 'mainUs'],
  ['threads of V8 and libuv', 'othersUs'],
]

/** @param {Result} result */
export function print({ machine, versions, date, commit, stages, worker }) {
  console.log(`\n${date}, commit ${commit ?? 'unknown'}, Node ${versions.node}, pino ${versions.pino}, undici ${versions.undici}`)
  console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.platform}`)
  console.log('us of CPU a record: median (min to max)')
  for (const [shape, { lineBytes, stages: spreads }] of Object.entries(stages ?? {})) {
    const value = (/** @type {string} */ name) => /** @type {Spread} */ (spreads[name])
    console.log(`\n${shape}, ${lineBytes} bytes a line`)
    const rows = STAGE_ROWS.map(([label, ours, other]) => row(/** @type {string} */ (label), value(/** @type {string} */ (ours)), value(/** @type {string} */ (other))))
    const http = HTTP_ROWS.map((name) => row(name, value(name)))
    const ofWorker = worker?.[/** @type {Shape} */ (shape)]
    const whole = ofWorker === undefined ? [] : WORKER_ROWS.map(([label, key]) =>
      row(`end to end, ${label}`, /** @type {Spread} */ (ofWorker[`fast: ${key}`]), ofWorker[`reference: ${key}`]))
    table([['', 'fast', 'reference', 'reference / fast'], ...rows, ...http, ...whole])
    if (ofWorker !== undefined) console.log(`acknowledged: ${rate(ofWorker['fast: recordsPerSecond'])} a second; by the reference path ${rate(ofWorker['reference: recordsPerSecond'])}`)
  }
  console.log('')
  for (const [shape, { stages: spreads }] of Object.entries(stages ?? {})) sentence(`mapping, ${shape}`, spreads['mapping: fast'], spreads['mapping: reference'])
  for (const [shape, spreads] of Object.entries(worker ?? {})) sentence(`worker, ${shape}`, spreads['fast: workerUs'], spreads['reference: workerUs'])
}

/** @param {string} label @param {Spread} ours @param {Spread} [other] */
function row(label, ours, other) {
  return [label, cell(ours), ...(other === undefined ? ['', ''] : [cell(other), (other.median / ours.median).toFixed(1)])]
}

/** @param {string} subject @param {Spread | undefined} ours @param {Spread | undefined} other */
function sentence(subject, ours, other) {
  if (ours === undefined || other === undefined) return
  console.log(`${subject}: ${us(ours.median)} us against ${us(other.median)} us, ${(other.median / ours.median).toFixed(1)} times`)
}

/** @param {Spread} spread */
function cell({ median, min, max }) {
  return `${us(median)} (${us(min)} to ${us(max)})`
}

/** @param {number} value */
function us(value) {
  return value.toFixed(value < 0.1 ? 3 : 2)
}

/** @param {Spread | undefined} spread */
function rate(spread) {
  return spread === undefined ? 'unknown' : `${Math.round(spread.median / 1000)},000`
}

/** @param {readonly string[][]} rows */
function table(rows) {
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)))
  for (const cells of rows) console.log(widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join('  ').trimEnd())
}
