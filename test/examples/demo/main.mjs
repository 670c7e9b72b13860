/**
 * Demonstrates pino-ingest: starts the local service, runs a small shop in a separate process, and prints the stored records.
 * Exits with 1 if anything is missing.
 *
 *     npm run demo             # about 1 s
 *     npm run demo -- --keep   # the service and the customers continue until Ctrl-C
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

/** Uses the default port of `pino-ingest dev`, or a free one. */
async function startService() {
  try {
    return await createIngestService({ port: USUAL_PORT })
  } catch (error) {
    if (error.code !== 'PORT') throw error
    console.log(`Port ${USUAL_PORT} is taken, so the local service listens on a free one.\n`)
    return createIngestService()
  }
}

/** @returns the requests to the shop, the number of logged lines, and the exit code */
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

/** @returns function that waits for the end and returns descriptions of failures */
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

/** Never removes the listeners: under npm one Ctrl-C arrives twice. */
function askedToEnd() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, resolve)
  })
}

/** Removes the shell's settings for other applications, which would change the output. */
function appEnvironment() {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_'))
  return {
    ...Object.fromEntries(others),
    PINO_INGEST_URL: service.url,
    PINO_INGEST_API_KEY: 'demo',
    PINO_INGEST_SPOOL_DIR: spoolDir,
  }
}
