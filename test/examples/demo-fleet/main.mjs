/**
 * A fleet demo: eight application processes log to a queue on three NATS nodes, and two forwarders deliver to the local service.
 * During the run the node that leads the queue is killed, then a forwarder, and then the service is down for 10 s. Exits with 1 if an
 * entry is missing, or arrived twice although the killed forwarder did not have it in flight.
 *
 *     npm run demo:fleet                        # under 3 minutes; in a terminal the page stays open until Ctrl-C
 *     npm run demo:fleet -- --exit              # ends by itself
 *     npm run demo:fleet -- --entries 20000
 *
 * Fetches nats-server if there is none, see `findOrFetchNatsServer()`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand, startCommand } from '../../nats/commands.mjs'
import { findOrFetchNatsServer, HOW_TO_GET_NATS_SERVER, startNatsServers } from '../../nats/nats-servers.mjs'
import { watchQueue } from '../../nats/watch-queue.mjs'
import { runFaults } from './faults.mjs'
import { startModule } from './processes.mjs'
import { printReport, problemsOf, say } from './report.mjs'

const APPLICATIONS = 8
/** Batches of a killed forwarder are redelivered after 30 s. */
const EMPTY_TIMEOUT_MS = 90_000
const KEY = 'key-that-only-forwarders-have'

const { values } = parseArgs({
  // `seconds`: how long the applications log; must be long enough for the faults.
  options: {
    entries: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '50' },
    exit: { type: 'boolean', default: false },
  },
})
const each = Math.ceil(Number(values.entries) / APPLICATIONS)
const entries = each * APPLICATIONS
const seconds = Number(values.seconds)

if (!(each > 0 && seconds > 0)) {
  console.error('--entries and --seconds must be numbers above 0')
  process.exitCode = 2
} else if (findOrFetchNatsServer() === undefined) {
  console.error(HOW_TO_GET_NATS_SERVER)
  process.exitCode = 1
} else {
  const isEnded = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve('asked to end'))
  })
  await runDemo(isEnded)
  // Pending waits for killed processes must not keep this process alive.
  process.exit()
}

async function runDemo(isEnded) {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-demo-fleet-'))
  let servers
  let stage
  try {
    say('Three NATS nodes start and form a cluster.')
    servers = await startNatsServers({ nodes: 3 })
    stage = await setStage(servers, folder)
    const ended = await Promise.race([runFleet(stage), isEnded])
    if (typeof ended === 'string') throw new Error(ended)
    printReport(ended)
    const problems = problemsOf(ended)
    for (const problem of problems) console.error(`FAILED: ${problem}`)
    if (problems.length > 0) process.exitCode = 1
    if (process.stdout.isTTY && !values.exit) {
      say(`\nThe page: ${stage.pageUrl}\nIt stays open until Ctrl-C.`)
      await isEnded
    }
  } catch (error) {
    console.error(`FAILED: ${error.message}`)
    for (const { output } of stage?.all() ?? []) process.stderr.write(output)
    process.exitCode = 1
  } finally {
    await Promise.all((stage?.all() ?? []).map((one) => one.kill()))
    await servers?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Starts streams, service and forwarders. The applications are added when they start. */
async function setStage(servers, folder) {
  const nats = { PINO_INGEST_NATS_SERVERS: servers.urls.join(','), PINO_INGEST_SPOOL_DIR: join(folder, 'spool') }
  await runCommand(['forward', 'init', '--replicas', '3', '--max-bytes', '1GiB'], nats)
  const service = startModule('service.mjs', [join(folder, 'entries.ndjson'), entries + entries / 10])
  const { url, pageUrl } = await service.said('addresses')
  const startForwarder = () => startCommand(['forward'], { ...nats, PINO_INGEST_URL: url, PINO_INGEST_API_KEY: KEY })
  const forwarders = [startForwarder(), startForwarder()]
  const applications = []
  say(`Two forwarders deliver to the local service, ${url}.`)
  return {
    servers,
    nats,
    service,
    pageUrl,
    forwarders,
    startForwarder,
    applications,
    all: () => [service, ...forwarders, ...applications],
  }
}

async function runFleet(stage) {
  const { servers, nats, service, applications } = stage
  const perSecond = each / seconds
  for (let index = 0; index < APPLICATIONS; index += 1)
    applications.push(startModule('application.mjs', [index * each, each, perSecond], nats))
  say(`${APPLICATIONS} applications log ${entries.toLocaleString('en')} entries, within ${seconds} s.\n`)

  const startedAt = performance.now()
  const queue = watchQueue(servers)
  const faults = runFaults({ ...stage, queue, entries })
  const logged = (await Promise.all(applications.map((one) => one.said('logged')))).reduce((sum, n) => sum + n, 0)
  await Promise.all(applications.map((one) => one.said('state')))
  const publishedAfterMs = performance.now() - startedAt
  const { killed, ...told } = await faults
  await queue.isEmpty(EMPTY_TIMEOUT_MS)
  const arrivedAfterMs = performance.now() - startedAt
  queue.stop()
  return { logged, ...(await service.ask('report')), ...told, killed, publishedAfterMs, arrivedAfterMs }
}
