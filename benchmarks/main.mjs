/**
 * Runs the questions of this folder: measures, prints, and stores results and charts.
 * `npm run bench [-- NAME…] [--list] [--quick] [--rounds N] [--records N] [--OPTION N] [--out DIR] [--redraw] [--against DIR]`
 * Then it writes the numbers and charts of README.md and docs from the stored results.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agreementOf } from './tools/agreement.mjs'
import { hasDefaults, optionsFor, parseCommand } from './tools/command-line.mjs'
import { stopAll } from './tools/children.mjs'
import { loadQuestions } from './tools/questions.mjs'
import { ON_PAGES, PAGES, PICTURES, withResults } from './tools/pages.mjs'
import { drawCharts, footerOf, headOf, readResult, writeResult } from './tools/results.mjs'
import { surroundings } from './tools/surroundings.mjs'
import { table } from './tools/table.mjs'
import { canMeasureThreads } from './tools/threads.mjs'

/** @typedef {import('./tools/questions.mjs').Question} Question */

const KEPT = fileURLToPath(new URL('./results', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Ignored by git. */
const TRIAL = fileURLToPath(new URL('./results/trial', import.meta.url))

const { questions, broken } = await loadQuestions(new URL('.', import.meta.url))
/** @type {string[]} */
const failed = []
/** @type {string[][]} rows of the summary */
const asked = []

try {
  await run(parseCommand(process.argv.slice(2), questions, broken))
} catch (error) {
  if (!(error instanceof RangeError)) throw error
  console.error(error.message)
  process.exitCode = 2
}

/** @param {import('./tools/command-line.mjs').Command} command */
async function run(command) {
  // Other questions need not show these failures.
  if (command.isAll) for (const [name, error] of broken) fail(name, error)
  if (command.isList) return list()
  for (const question of command.questions) {
    const { name } = question
    const options = optionsFor(question, command)
    const isKept = ON_PAGES.includes(name) && hasDefaults(question, options)
    const out = command.out ?? (isKept ? KEPT : TRIAL)
    try {
      mkdirSync(out, { recursive: true })
      if (command.against !== undefined) compareWith(question, command.out ?? KEPT, command.against)
      else if (command.isRedraw) await redraw(question, out)
      else await ask(question, options, out)
    } catch (error) {
      fail(name, error)
    } finally {
      stopAll()
    }
  }
  if (asked.length > 0)
    console.log(['', ...table([['question', 'seconds', 'less than by default'], ...asked])].join('\n'))
  if (command.out === undefined && command.against === undefined) writePages()
  if (failed.length === 0) return
  console.error(`\nfailed: ${failed.join(', ')}`)
  process.exitCode = 1
}

/** @param {Question} question @param {Record<string, number>} options @param {string} out */
async function ask(question, options, out) {
  const { name, asks } = question
  if (question.needsLinux === true && !canMeasureThreads)
    return console.log(`\n${name}: skipped, it reads /proc, which only Linux has`)
  const showProgress = (/** @type {string} */ line) => console.error(`[${name}] ${line}`)
  // Read before the measurement, since the tree may change meanwhile.
  const around = { question: name, asks, ...surroundings(), options }
  const startedAt = performance.now()
  try {
    const result = await question.measure({ options, showProgress })
    const kept = { ...around, seconds: secondsSince(startedAt), result }
    // Stored before anything can fail: a measurement takes long.
    showProgress(`written: ${writeResult(out, name, kept)}`)
    await show(question, kept, out)
  } finally {
    asked.push([name, String(secondsSince(startedAt)), lessThanDefaults(question, options)])
  }
}

/** @param {number} startedAt */
function secondsSince(startedAt) {
  return Math.round((performance.now() - startedAt) / 1000)
}

/** @param {Question} question @param {Record<string, number>} options */
function lessThanDefaults({ options: defaults }, options) {
  return Object.entries(defaults)
    .filter(([name, value]) => options[name] !== value)
    .map(([name, value]) => `${name} ${options[name]} instead of ${value}`)
    .join(', ')
}

/** @param {Question} question @param {string} out */
async function redraw(question, out) {
  const kept = readResult(out, question.name)
  if (kept === undefined) console.log(`\n${question.name}: there is no result in ${out}`)
  else await show(question, kept, out)
}

/** @param {Question} question @param {string} folder @param {string} against */
function compareWith({ name }, folder, against) {
  const [one, other] = [readResult(folder, name), readResult(against, name)]
  if (one === undefined || other === undefined) return
  const lines = agreementOf(one, other)
  if (lines.length > 1) console.log(['', name, ...lines].join('\n'))
}

/** @param {Question} question @param {import('./tools/results.mjs').Kept} kept @param {string} out */
async function show(question, kept, out) {
  console.log(['', ...headOf(kept), '', ...question.lines(kept.result)].join('\n'))
  await drawCharts(out, question.name, question.charts?.(kept.result) ?? {}, footerOf(kept))
}

function writePages() {
  const stored = (/** @type {string} */ name) => {
    const kept = readResult(KEPT, name)
    if (kept === undefined) throw new RangeError(`there is no result of ${name}: npm run bench -- ${name}`)
    return kept
  }
  for (const page of PAGES) {
    const file = join(ROOT, page)
    const onError = (/** @type {string} */ name, /** @type {unknown} */ error) => fail(`${page}, ${name}`, error)
    writeFileSync(file, withResults(readFileSync(file, 'utf8'), stored, onError))
  }
  for (const file of Object.keys(PICTURES)) copyFileSync(join(KEPT, file), join(ROOT, 'docs/images', file))
}

function list() {
  for (const { name, asks, options } of questions) {
    const defaults = Object.entries(options).map(([option, value]) => `--${option} ${value}`)
    console.log(`${name}\n  ${asks}\n  ${defaults.join(' ')}`)
  }
}

/** @param {string} name @param {unknown} error */
function fail(name, error) {
  failed.push(name)
  console.error(`[${name}] failed:`, error)
}
