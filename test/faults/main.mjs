/**
 * Counts lost and duplicated records during faults, for pino-ingest and its peers, each as a real
 * process with a faulty server. Takes about 30 min; without peers about 10 min.
 *
 *     npm run test:faults [-- --only KEY[,KEY] --peers all|none|NAME[,NAME] --json FILE --processes N --seed N]
 *
 * Installs the peers from the npm registry into a separate folder. Exits with 1 if pino-ingest misses a requirement.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { PEERS, installPeers } from './peers.mjs'
import { print } from './print.mjs'
import { run } from './run.mjs'
import { ALL } from './all.mjs'
import { OURS } from './stage.mjs'

/** For two processors. More concurrency would distort timings and the peers' counts. */
const AT_ONCE = 2

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    peers: { type: 'string', default: 'all' },
    json: { type: 'string' },
    processes: { type: 'string' },
    seed: { type: 'string' },
  },
})
/** Options of scenarios that support them. */
const more = Object.fromEntries(
  Object.entries({ processes: values.processes, seed: values.seed }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Number(value)]],
  ),
)
const printLine = (/** @type {string} */ line) => process.stderr.write(`${line}\n`)

const wanted = values.only?.split(',')
const unknown = wanted?.filter((key) => !ALL.some((scenario) => scenario.key === key)) ?? []
const named = values.peers === 'all' ? PEERS : values.peers === 'none' ? [] : values.peers.split(',')
unknown.push(...named.filter((name) => !PEERS.includes(name)))
if (unknown.length > 0) {
  printLine(
    `unknown: ${unknown.join(', ')}; --only takes ${ALL.map(({ key }) => key).join(', ')}; --peers takes all, none, ${PEERS.join(', ')}`,
  )
  process.exit(2)
}
const scenarios = ALL.filter(({ key }) => wanted === undefined || wanted.includes(key))
const needsPeers = scenarios.some(({ isOursOnly }) => isOursOnly !== true)
const peers = needsPeers ? installPeers(named, printLine) : []
const subjects = [...peers.filter(({ version }) => version !== undefined), OURS]

const tasks = scenarios.flatMap((scenario) =>
  subjects
    .filter((subject) => subject === OURS || scenario.isOursOnly !== true)
    .map((subject) => ({ scenario, subject })),
)
/** @type {{ scenario: string, subject: string, outcome?: import('./stage.mjs').Outcome, failure?: string }[]} */
const results = []
await work(
  tasks.filter(({ scenario }) => scenario.isAlone !== true),
  AT_ONCE,
)
await work(
  tasks.filter(({ scenario }) => scenario.isAlone === true),
  1,
)
const holds = print({ scenarios, peers, results })
if (values.json !== undefined) {
  const versions = Object.fromEntries(peers.map(({ name, version }) => [name, version ?? 'not installed']))
  writeFileSync(values.json, `${JSON.stringify({ node: process.version, versions, results }, null, 2)}\n`)
}
process.exitCode = holds ? 0 : 1

/** @param {typeof tasks} queue @param {number} atOnce */
async function work(queue, atOnce) {
  const worker = async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await perform(task)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** @param {(typeof tasks)[number]} task */
async function perform({ scenario, subject }) {
  const startedAt = Date.now()
  const tookS = () => Math.round((Date.now() - startedAt) / 1000)
  const done = { scenario: scenario.key, subject: subject.name }
  try {
    const outcome = await run(scenario, subject, 'full', more)
    results.push({ ...done, outcome })
    printLine(
      `${results.length}/${tasks.length} ${scenario.key}, ${subject.name}: lost ${outcome.lost}, duplicated ${outcome.duplicated}, ${tookS()} s`,
    )
  } catch (error) {
    results.push({ ...done, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    printLine(`${results.length}/${tasks.length} ${scenario.key}, ${subject.name}: failed, ${tookS()} s: ${error}`)
  }
}
