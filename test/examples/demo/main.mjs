/**
 * Shows pino-ingest at work: starts the local service, runs a small shop against it in a process of its own, and prints
 * what arrived. Exits with 1 where anything is missing.
 *
 *     npm run demo             # about a second
 *     npm run demo -- --keep   # the local service stays until Ctrl-C, and customers go on coming
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIngestService } from 'pino-ingest/service'
import { startApp } from './app-process.mjs'
import { problemsOf } from './expectations.mjs'
import { printArrived, printGoodbye, printStart } from './report.mjs'
import { closeTill } from './till.mjs'
import { driveTraffic, startSlowTraffic } from './traffic.mjs'

const USUAL_PORT = 4319

const keep = process.argv.includes('--keep')
const asked = keep ? askedToEnd() : undefined
const spoolDir = mkdtempSync(join(tmpdir(), 'pino-ingest-demo-'))
const service = await startService()
try {
  const day = await runDay()
  printArrived(service, day)
  tell(problemsOf(service, day))
  const endEvening = keep ? await startEvening() : undefined
  printGoodbye(service, keep)
  if (endEvening !== undefined) tell(await endEvening())
} catch (error) {
  tell([error.message])
} finally {
  await service.close()
  rmSync(spoolDir, { recursive: true, force: true })
}

function tell(problems) {
  for (const problem of problems) console.error(`FAILED: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

/** On the port that `pino-ingest dev` has, so that the address is a familiar one, or a free one. */
async function startService() {
  try {
    return await createIngestService({ port: USUAL_PORT })
  } catch (error) {
    if (error.code !== 'PORT') throw error
    console.log(`Port ${USUAL_PORT} is taken, so the local service listens on a free one.\n`)
    return createIngestService()
  }
}

/** @returns what was sent to the shop, how many lines its logger wrote, and how it ended */
function runDay() {
  const app = startApp(appEnvironment())
  return app.inTime(async () => {
    const { shopUrl, inventoryUrl } = await app.ready
    printStart(service, shopUrl, inventoryUrl)
    const requests = await driveTraffic(shopUrl)
    await closeTill(service.url)
    return { requests, ...(await app.end()) }
  })
}

/** @returns a function that waits for the end, and gives what went wrong until then, in words */
async function startEvening() {
  const app = startApp(appEnvironment())
  const { shopUrl } = await app.inTime(() => app.ready)
  const stopTraffic = startSlowTraffic(shopUrl)
  return async () => {
    await Promise.race([asked, app.exited])
    const surprises = await stopTraffic()
    const { exitCode } = await app.inTime(() => app.end())
    return exitCode === 0 ? surprises : [...surprises, `the application ended with ${exitCode}, not 0`]
  }
}

/** From the start, and for good: one Ctrl-C under npm comes twice. */
function askedToEnd() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, resolve)
  })
}

/** Only address, key and a spool of its own: what the shell has set for another application would change what is shown. */
function appEnvironment() {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_'))
  return {
    ...Object.fromEntries(others),
    PINO_INGEST_URL: service.url,
    PINO_INGEST_API_KEY: 'demo',
    PINO_INGEST_SPOOL_DIR: spoolDir,
  }
}
