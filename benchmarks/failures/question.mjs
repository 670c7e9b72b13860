/**
 * The cost of a service with occasional failures: a load balancer with a bad node answers 503 to some requests, and
 * accepts others at the same time.
 */
import { formatRatio } from '../peers/ratios.mjs'
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'
import { Samples, ratios, spread } from '../tools/statistics.mjs'
import { cell, table } from '../tools/table.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {{ seconds: number, workerUs: number, requests: number, refused: number, mostInFlight: number, messages: number }} Run
 * @typedef {Record<string, Run[]>} Runs by failure case, the same rounds for all
 * @typedef {{ records: number, warmUp: number, runs: Runs }} Part
 * @typedef {{ first: Part, later: Part }} Result
 */

/** The failure cases. The first is the baseline. */
const NONE = '0 %'
/** From the first record of an application: maximum ratio to the time without failures. */
const FIRST = {
  '10 %': 1.3,
  '30 %': 2,
  'every other 500 ms': undefined,
  'down for 5 s': undefined,
}
/** After the warm-up: minimum ratio to the entries per second without failures. */
const LATER = { '1 %': 0.9, '10 %': undefined }
const ENTRIES_A_REQUEST = 100

export const question = {
  name: 'failures',
  asks: 'What does a service that answers some requests 503 cost in throughput, in requests, and in the time of the first 20,000 entries?',
  needsLinux: true,
  /** records: of a new application; later: after the warm-up of `warm-up`. */
  options: { rounds: 3, records: 20_000, later: 150_000, 'warm-up': 100_000 },
  quick: { rounds: 1, later: 30_000, 'warm-up': 30_000 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options, showProgress }) {
    const { rounds = 0, records = 0, later = 0, 'warm-up': warmUp = 0 } = options
    const part = async (/** @type {Omit<Part, 'runs'>} */ settings, /** @type {readonly string[]} */ failing) => ({
      ...settings,
      runs: await runsOf(settings, failing, rounds, showProgress),
    })
    return {
      later: await part({ records: later, warmUp }, Object.keys(LATER)),
      first: await part({ records, warmUp: 0 }, Object.keys(FIRST)),
    }
  },

  /** @param {Result} result */
  lines({ first, later }) {
    return [
      `${later.records} entries after ${later.warmUp}, spool on`,
      ...tableOf(later, LATER, 'throughput'),
      '',
      `the first ${first.records} entries of an application, including its start`,
      ...tableOf(first, FIRST, 'seconds'),
    ]
  },
}

/**
 * @param {{ records: number, warmUp: number }} settings @param {readonly string[]} failing @param {number} rounds
 * @param {(line: string) => void} showProgress @returns {Promise<Runs>}
 */
async function runsOf(settings, failing, rounds, showProgress) {
  const all = [NONE, ...failing].map((name) => ({ name, runs: /** @type {Run[]} */ ([]) }))
  let seed = 0
  for (let round = 0; round < rounds; round += 1) {
    showProgress(`round ${round + 1} of ${rounds}: ${settings.warmUp === 0 ? 'from the start' : 'later'}`)
    for (const { name, runs } of round % 2 === 0 ? all : all.toReversed())
      runs.push(await measureOne(name, settings, (seed += 1)))
  }
  return Object.fromEntries(all.map(({ name, runs }) => [name, runs]))
}

/** @param {string} name @param {{ records: number, warmUp: number }} settings @param {number} seed @returns {Promise<Run>} */
async function measureOne(name, { records, warmUp }, seed) {
  const { dir, clean } = scratchFolder()
  const service = start(new URL('./service.mjs', import.meta.url), [name, String(seed), String(warmUp)])
  try {
    const { url } = await service.first
    const app = start(new URL('./app.mjs', import.meta.url), [
      JSON.stringify({ url, warmUp, records, options: { spool: { dir } } }),
    ])
    const first = await app.first
    if (warmUp > 0) await service.ask('begin')
    const { seconds, messages, workerUs } = warmUp > 0 ? await app.ask('go on') : first
    const { requests, refused, entries, duplicated, mostInFlight } = await service.ask('what came')
    if (entries !== records || duplicated !== 0)
      throw new Error(`${name}: ${entries} of ${records} entries arrived, ${duplicated} of them twice`)
    await app.kill()
    return { seconds, workerUs, requests, refused, mostInFlight, messages }
  } finally {
    service.stop()
    clean()
  }
}

/**
 * @param {Part} part @param {Readonly<Record<string, number | undefined>>} goals @param {'throughput' | 'seconds'}
 *   what the measure of the ratio
 */
function tableOf({ records, runs }, goals, what) {
  const secondsOf = (/** @type {string} */ name) => (runs[name] ?? []).map(({ seconds }) => seconds)
  const none = secondsOf(NONE)
  return table([
    [
      'answered 503',
      `times ${what} without`,
      'goal',
      'seconds',
      'entries/s',
      'worker µs',
      'requests',
      `of at least`,
      '503',
      'most in flight',
      'problems reported',
    ],
    ...Object.entries(runs).map(([name, ofName]) => {
      const samples = new Samples()
      for (const run of ofName) for (const [key, value] of Object.entries(run)) samples.add(key, value)
      const { seconds, workerUs, requests, refused, mostInFlight, messages } = samples.spreads()
      const ratio = spread(what === 'seconds' ? ratios(secondsOf(name), none) : ratios(none, secondsOf(name)))
      const goal = goals[name]
      const holds = goal !== undefined && (what === 'seconds' ? ratio.median <= goal : ratio.median >= goal)
      const said = `${what === 'seconds' ? 'at most' : 'at least'} ${goal}: ${holds ? 'holds' : 'does not hold'}`
      return [
        name,
        formatRatio(ratio),
        goal === undefined ? '' : said,
        cell(seconds),
        Math.round(records / (seconds?.median ?? NaN)).toLocaleString('en-US'),
        cell(workerUs),
        cell(requests, String),
        String(records / ENTRIES_A_REQUEST),
        cell(refused, String),
        cell(mostInFlight, String),
        cell(messages, String),
      ]
    }),
  ])
}
