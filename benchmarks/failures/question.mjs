/** What a service that fails now and then costs: a load balancer with a bad node answers some requests 503, and others at once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../tools/children.mjs'
import { cell, table } from '../tools/table.mjs'
import { inTurns } from '../tools/turns.mjs'

/**
 * @typedef {import('../tools/statistics.mjs').Spread} Spread
 * @typedef {{ records: number, delayMs: number, spreads: Record<string, Record<string, Spread>> }} Result
 */

/** What is answered 503. The first is what the others are held against. */
const CASES = ['0 %', '10 %', '20 %', '30 %', '50 %', '70 %', 'every other 500 ms', 'down for 5 s']
/** Times what it takes without failures. */
const GOALS = new Map([
  ['10 %', 1.3],
  ['30 %', 2],
])
const ENTRIES_A_REQUEST = 100

export const question = {
  name: 'failures',
  asks: 'How long does it take to send 20,000 entries to a service that answers some requests 503, and with how many requests?',
  /** delayMs: before each reply. */
  options: { rounds: 5, records: 20_000, delayMs: 0 },
  quick: { rounds: 1 },

  /** @param {import('../tools/questions.mjs').Asked} asked @returns {Promise<Result>} */
  async measure({ options: { rounds = 0, records = 0, delayMs = 0 }, tell }) {
    let seed = 0
    const all = await inTurns({
      rounds,
      cases: ['a new application'],
      variants: CASES,
      tell,
      run: (_, name) => measureOne(name, { records, delayMs, seed: (seed += 1) }),
    })
    return { records, delayMs, spreads: all['a new application'] }
  },

  /** @param {Result} result */
  lines({ records, delayMs, spreads }) {
    const least = records / ENTRIES_A_REQUEST
    const without = spreads[/** @type {string} */ (CASES[0])]?.['seconds']?.median ?? NaN
    return [
      `${records} entries, ${least} requests at least, a service that answers after ${delayMs} ms, spool on`,
      ...table([
        ['answered 503', 'seconds', 'times', 'goal', 'requests', '503', 'most in flight', 'problems reported'],
        ...Object.entries(spreads).map(([name, { seconds, requests, refused, mostInFlight, messages }]) => {
          const ratio = (seconds?.median ?? NaN) / without
          const goal = GOALS.get(name)
          const verdict = goal === undefined ? '' : `at most ${goal}: ${ratio <= goal ? 'holds' : 'does not hold'}`
          return [
            name,
            cell(seconds),
            ratio.toFixed(2),
            verdict,
            cell(requests, String),
            cell(refused, String),
            cell(mostInFlight, String),
            cell(messages, String),
          ]
        }),
      ]),
    ]
  },
}

/** @param {string} name @param {{ records: number, delayMs: number, seed: number }} settings @returns {Promise<Record<string, number>>} */
async function measureOne(name, { records, delayMs, seed }) {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-bench-'))
  const service = start(new URL('./service.mjs', import.meta.url), [name, String(delayMs), String(seed)])
  try {
    const { url } = await service.first
    const app = start(new URL('./app.mjs', import.meta.url), [url, String(records), JSON.stringify({ spool: { dir } })])
    const { seconds, messages } = await app.first
    const { requests, refused, entries, duplicated, mostInFlight } = await service.ask('what came')
    if (entries !== records || duplicated !== 0)
      throw new Error(`${name}: ${entries} of ${records} entries came, ${duplicated} of them twice`)
    await app.kill()
    return { seconds, requests, refused, mostInFlight, messages }
  } finally {
    service.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
