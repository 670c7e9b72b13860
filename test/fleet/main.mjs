/**
 * Counts lost and duplicated entries while parts of a fleet fail, with real NATS nodes, forwarders and applications.
 *
 *     npm run test:fleet [-- NAME… --minutes N --seed N --json FILE]
 *
 * `--minutes` is the length of `chaos` (10). Exits with 1 if an entry is lost or duplicated without a known reason.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findOrFetchNatsServer, HOW_TO_GET_NATS_SERVER } from '../nats/nats-servers.mjs'
import { run } from './run.mjs'
import { SCENARIOS } from './scenarios.mjs'

const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`)
const tell = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
  allowPositionals: true,
})
const options = { minutes: Number(values.minutes), seed: Number(values.seed) }
const server = findOrFetchNatsServer()
const unknown = positionals.filter((name) => !SCENARIOS.some(({ key }) => key === name))

if (unknown.length > 0)
  end(2, `unknown: ${unknown.join(', ')}; known are ${SCENARIOS.map(({ key }) => key).join(', ')}`)
else if (server === undefined) end(1, HOW_TO_GET_NATS_SERVER)
else {
  tell(execFileSync(server, ['--version'], { encoding: 'utf8' }).trim())
  await runAll()
}

async function runAll() {
  /** @type {Record<string, unknown>} */
  const results = {}
  say(
    '| scenario | entries | lost | came twice | dead letters | all delivered after | longest pause | holds? |\n|---|---|---|---|---|---|---|---|',
  )
  for (const scenario of SCENARIOS) {
    if (positionals.length > 0 && !positionals.includes(scenario.key)) continue
    const startedAt = performance.now()
    try {
      const outcome = await run(scenario, options)
      const tookS = Math.round((performance.now() - startedAt) / 1000)
      results[scenario.key] = { ...outcome, tookS }
      const { expected, lost, duplicated, duplicates, deadLettered, deliveredAfterMs, longestPauseMs, wrong } = outcome
      const reasons = Object.entries(duplicates).map(([reason, count]) => `${count} batches: ${reason}`)
      say(
        `| ${scenario.name} | ${expected} | ${lost} | ${[duplicated, ...reasons].join('; ')} | ${deadLettered} | ${(deliveredAfterMs / 1000).toFixed(1)} s | ${(longestPauseMs / 1000).toFixed(1)} s | ${wrong.length === 0 ? 'yes' : '**no**'} |`,
      )
      for (const line of [...wrong, ...outcome.notes]) tell(`${scenario.key}: ${line}`)
      if (wrong.length > 0) process.exitCode = 1
    } catch (error) {
      results[scenario.key] = { failure: String(error) }
      say(`| ${scenario.name} | | | | | | | **did not run** |`)
      tell(error instanceof Error ? (error.stack ?? error.message) : String(error))
      process.exitCode = 1
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ options, results }, null, 2)}\n`)
}

/** @param {number} code @param {string} line */
function end(code, line) {
  tell(line)
  process.exitCode = code
}
