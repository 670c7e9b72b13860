/** The worker's time by part of the package, measured by a sampling profiler in its thread without other changes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { start, withSink } from '../tools/children.mjs'
import { IDENTITY, scratchFolder } from '../tools/ours.mjs'
import { SHAPES } from '../tools/shapes.mjs'
import { Samples } from '../tools/statistics.mjs'
import { cell, table, us } from '../tools/table.mjs'
import { compilationOf } from './compilation.mjs'
import { functionsOf, sharesBy } from './parts.mjs'

/**
 * @typedef {import('../tools/shapes.mjs').Shape} Shape
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {import('./compilation.mjs').Compilation} Compilation
 *
 * @typedef {object} OfShape µs of CPU per sent entry; the worker's total time, divided by the shares of the samples
 * @property {Spread} worker
 * @property {Spread} others V8's threads
 * @property {Record<string, Spread>} parts
 * @property {{ file: string, name: string, us: number }[]} functions of the first round, the most expensive
 * @property {Compilation[]} compilation by round
 *
 * @typedef {Partial<Record<'cold' | 'warm', Partial<Record<Shape, OfShape>>>>} Result
 */

const SHAPES_ASKED = /** @type {Shape[]} */ (Object.keys(SHAPES))
const STATES = /** @type {const} */ (['cold', 'warm'])
const WARM_UP_RECORDS = 100_000
const MOST_FUNCTIONS = 25

export const question = {
  name: 'profile',
  asks: "Which parts of the package use the worker's time, for the first records of a process and later?",
  needsLinux: true,
  /** shape: 1 small, 2 http, 3 error, 4 mix, 0 all. */
  options: { rounds: 3, records: 60_000, 'cold-records': 30_000, shape: 0 },
  quick: { rounds: 1, records: 20_000, 'cold-records': 20_000, shape: 4 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  measure({ options: { rounds = 0, records = 0, 'cold-records': coldRecords = 0, shape: number = 0 }, showProgress }) {
    const shapes = number > 0 ? SHAPES_ASKED.slice(number - 1, number) : SHAPES_ASKED
    return withSink(async (url) => {
      /** @type {Result} */
      const result = {}
      for (const state of STATES) {
        for (const shape of shapes) {
          showProgress(`${state} ${shape}`)
          const load = {
            shape,
            warmUp: state === 'cold' ? 0 : WARM_UP_RECORDS,
            records: state === 'cold' ? coldRecords : records,
          }
          result[state] = { ...result[state], [shape]: await profiled(load, url, rounds) }
        }
      }
      return result
    })
  },

  /** @param {Result} result */
  lines(result) {
    return STATES.flatMap((state) => (result[state] === undefined ? [] : linesOf(state, result[state])))
  },
}

/** @param {{ shape: Shape, warmUp: number, records: number }} load @param {string} url @param {number} rounds @returns {Promise<OfShape>} */
async function profiled(load, url, rounds) {
  const samples = new Samples()
  const parts = new Samples()
  const compilation = []
  /** @type {OfShape['functions']} */
  let first = []
  for (let round = 0; round < rounds; round += 1) {
    const { workerUs, othersUs, functions } = await runProfiled(load, url)
    samples.add('worker', workerUs)
    samples.add('others', othersUs)
    for (const [part, share] of Object.entries(sharesBy(functions, (of) => of.part))) parts.add(part, share * workerUs)
    if (round === 0)
      first = functions.slice(0, MOST_FUNCTIONS).map(({ file, name, share }) => ({ file, name, us: share * workerUs }))
    compilation.push(await runTraced(load, url, new Set(functions.map(({ name }) => name))))
  }
  const { worker, others } = /** @type {Record<'worker' | 'others', Spread>} */ (samples.spreads())
  return { worker, others, parts: parts.spreads(), functions: first, compilation }
}

/** @param {{ shape: Shape, warmUp: number, records: number }} load @param {string} url */
async function runProfiled(load, url) {
  return inFolder(async (folder) => {
    const file = join(folder, 'worker.cpuprofile')
    /** @type {import('./app.mjs').Profiled} */
    const run = await startApp({ ...load, file, options: optionsOf(url, folder) }).first
    return { ...run, functions: functionsOf(JSON.parse(readFileSync(file, 'utf8'))) }
  })
}

/**
 * Runs another process, since a profiler changes what V8 compiles. @param {{ shape: Shape, warmUp: number, records:
 * number }} load @param {string} url @param {ReadonlySet<string>} names
 */
async function runTraced(load, url, names) {
  return inFolder(async (folder) => {
    const app = startApp({ ...load, file: '', options: optionsOf(url, folder) }, ['--trace-opt', '--trace-deopt'])
    await app.first
    return compilationOf(app.output(), names)
  })
}

/** @param {import('./app.mjs').Plan} plan @param {readonly string[]} [execArgv] */
function startApp(plan, execArgv) {
  return start(new URL('./app.mjs', import.meta.url), [JSON.stringify(plan)], execArgv)
}

/** @param {string} url @param {string} dir */
function optionsOf(url, dir) {
  return { url, ...IDENTITY, spool: { dir } }
}

/** @template T @param {(folder: string) => Promise<T>} use @returns {Promise<T>} */
async function inFolder(use) {
  const { dir, clean } = scratchFolder()
  try {
    return await use(dir)
  } finally {
    clean()
  }
}

/** @param {'cold' | 'warm'} state @param {Partial<Record<Shape, OfShape>>} ofState */
function linesOf(state, ofState) {
  const shapes = Object.entries(ofState)
  const names = [...new Set(shapes.flatMap(([, { parts }]) => Object.keys(parts)))]
  const most = (/** @type {string} */ part) => Math.max(...shapes.map(([, { parts }]) => parts[part]?.median ?? 0))
  const parts = names.toSorted((a, b) => most(b) - most(a))
  return [
    `${state}: µs of the worker's CPU per entry, by part: median (min to max)`,
    ...table([
      ['', ...shapes.map(([shape]) => shape)],
      ["all of the worker's", ...shapes.map(([, { worker }]) => cell(worker))],
      ...parts.map((part) => [part, ...shapes.map(([, of]) => cell(of.parts[part]))]),
      ["V8's threads", ...shapes.map(([, { others }]) => cell(others))],
    ]),
    '',
    ...shapes.flatMap(([shape, of]) => [
      ...compilationLines(state, shape, of),
      '',
      ...functionLines(state, shape, of),
      '',
    ]),
  ]
}

/** @param {string} state @param {string} shape @param {OfShape} of */
function compilationLines(state, shape, { compilation }) {
  return compilation.map(({ optimized, onThreadMs, besideMs, deoptimized, reasons }) => {
    const because = Object.entries(reasons)
      .toSorted(([, a], [, b]) => b - a)
      .map(([reason, count]) => `${reason} ${count}`)
    return (
      `${state} ${shape}: ${optimized} functions optimized in ${onThreadMs.toFixed(0)} ms in the thread and ${besideMs.toFixed(0)} ms in other threads, ` +
      `${deoptimized} deoptimized${because.length > 0 ? ` (${because.join(', ')})` : ''}`
    )
  })
}

/** @param {string} state @param {string} shape @param {OfShape} of */
function functionLines(state, shape, { functions }) {
  return table([
    [`${state} ${shape}: functions, themselves`, 'us'],
    ...functions.map(({ file, name, us: value }) => [`${name}${file === '' ? '' : ` (${file})`}`, us(value)]),
  ])
}
