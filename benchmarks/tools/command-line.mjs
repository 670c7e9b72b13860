/** Parses the command line. Pure. */
import { parseArgs } from 'node:util'

/**
 * @typedef {import('./questions.mjs').Question} Question
 * @typedef {{ questions: Question[], isAll: boolean, given: Record<string, number>, isQuick: boolean, isList: boolean, isRedraw: boolean, out: string | undefined, against: string | undefined }} Command
 *   given: options by name, all of them known to a question that is asked
 */

const OWN = /** @type {const} */ ({
  list: { type: 'boolean' },
  quick: { type: 'boolean' },
  redraw: { type: 'boolean' },
  out: { type: 'string' },
  against: { type: 'string' },
})

/**
 * @param {readonly string[]} args @param {readonly Question[]} questions @param {ReadonlyMap<string, unknown>} [broken] by name @returns {Command}
 * @throws RangeError with the valid names
 */
export function parseCommand(args, questions, broken = new Map()) {
  const known = new Set(questions.flatMap(({ options }) => Object.keys(options)))
  const { values, positionals } = parsed(args, known)
  for (const name of positionals) {
    if (questions.some((question) => question.name === name)) continue
    if (broken.has(name)) throw new RangeError(`the question ${name} cannot be loaded: ${String(broken.get(name))}`)
    throw new RangeError(
      `there is no question ${name}; use one of: ${questions.map((question) => question.name).join(', ')}`,
    )
  }
  const asked = positionals.length === 0 ? [...questions] : questions.filter(({ name }) => positionals.includes(name))
  /** @type {Record<string, number>} */
  const given = {}
  for (const [name, text] of Object.entries(values)) {
    if (Object.hasOwn(OWN, name)) continue
    const having = asked.filter(({ options }) => name in options)
    if (having.length === 0)
      throw new RangeError(
        `${asked.map((question) => question.name).join(', ')}: no option --${name}; ${optionsOf(asked)}`,
      )
    const mayBeZero = having.every(({ options }) => options[name] === 0)
    const isWhole = having.every(({ options }) => Number.isInteger(options[name]))
    given[name] = number(name, String(text), { mayBeZero, isWhole })
  }
  const {
    list = false,
    quick = false,
    redraw = false,
    out,
    against,
  } = /** @type {{ list?: boolean, quick?: boolean, redraw?: boolean, out?: string, against?: string }} */ (values)
  return {
    questions: asked,
    isAll: positionals.length === 0,
    given,
    isQuick: quick,
    isList: list,
    isRedraw: redraw,
    out,
    against,
  }
}

const ONE_ROUND = { rounds: 1 }

/** The defaults, then the quick values, then the given options. @param {Question} question @param {Command} command */
export function optionsFor({ options, quick = 'rounds' in options ? ONE_ROUND : {} }, { given, isQuick }) {
  const own = Object.entries(given).filter(([name]) => name in options)
  return { ...options, ...(isQuick ? quick : {}), ...Object.fromEntries(own) }
}

/** Whether the result may replace the stored one. @param {Question} question @param {Record<string, number>} options */
export function hasDefaults(question, options) {
  return Object.entries(question.options).every(([name, value]) => options[name] === value)
}

/** @param {readonly string[]} args @param {ReadonlySet<string>} known */
function parsed(args, known) {
  const options = {
    ...Object.fromEntries([...known].map((name) => [name, { type: /** @type {const} */ ('string') }])),
    ...OWN,
  }
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    // Node's second sentence is about names that start with a dash, which do not exist here.
    const [message] = /** @type {Error} */ (error).message.split('. ')
    throw new RangeError(
      `${message}; there are --list, --quick, --redraw, --out DIR, --against DIR, and ${[...known].map((name) => `--${name} N`).join(', ')}`,
      { cause: error },
    )
  }
}

/** @param {readonly Question[]} questions */
function optionsOf(questions) {
  return questions
    .map(
      ({ name, options }) =>
        `${name} has ${
          Object.keys(options)
            .map((option) => `--${option}`)
            .join(', ') || 'none'
        }`,
    )
    .join('; ')
}

/** @param {string} name @param {string} text @param {{ mayBeZero: boolean, isWhole: boolean }} rule */
function number(name, text, { mayBeZero, isWhole }) {
  const value = Number(text)
  const isFit =
    text.trim() !== '' &&
    Number.isFinite(value) &&
    (mayBeZero ? value >= 0 : value > 0) &&
    (!isWhole || Number.isSafeInteger(value))
  if (!isFit)
    throw new RangeError(
      `--${name} must be a ${isWhole ? 'whole ' : ''}number ${mayBeZero ? 'from 0 up' : 'above 0'}, got ${text}`,
    )
  return value
}
