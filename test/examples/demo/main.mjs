/**
 * Shows pino-ingest at work: starts the local service, runs a small shop against it in a process of its own, and prints
 * what arrived. Exits with 1 where anything is missing.
 *
 *     npm run demo             # about a second
 *     npm run demo -- --keep   # the local service stays until Ctrl-C
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIngestService } from 'pino-ingest/service'
import { problemsOf } from './expectations.mjs'
import { printArrived, printGoodbye, printStart } from './report.mjs'
import { driveTraffic } from './traffic.mjs'

const USUAL_PORT = 4319
const TIMEOUT_MS = 10_000

const keep = process.argv.includes('--keep')
const spoolDir = mkdtempSync(join(tmpdir(), 'pino-ingest-demo-'))
const service = await startService()
try {
  const run = await runShop()
  printArrived(service, run)
  const problems = problemsOf(service, run)
  for (const problem of problems) console.error(`FAILED: ${problem}`)
  process.exitCode = problems.length === 0 ? 0 : 1
  printGoodbye(service, keep)
  if (keep) await once(process, 'SIGINT')
} catch (error) {
  console.error(`FAILED: ${error.message}`)
  process.exitCode = 1
} finally {
  await service.close()
  rmSync(spoolDir, { recursive: true, force: true })
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

/** @returns what was sent to the shop, and how many lines its logger wrote */
async function runShop() {
  const app = fork(new URL('app.mjs', import.meta.url), { env: appEnvironment() })
  const timer = setTimeout(() => {
    console.error(`FAILED: the application did not end within ${TIMEOUT_MS / 1000} s`)
    app.kill('SIGKILL')
  }, TIMEOUT_MS)
  app.once('exit', () => clearTimeout(timer))
  const exited = once(app, 'exit').then(([code, signal]) => code ?? signal)
  const said = () => Promise.race([once(app, 'message'), exited.then((exitCode) => {
    throw new Error(`the application ended before its work was done, with ${exitCode}`)
  })])
  const [{ shopUrl, inventoryUrl }] = await said()
  printStart(service, shopUrl, inventoryUrl)
  const requests = await driveTraffic(shopUrl)
  app.send('end of the day')
  const [{ logged }] = await said()
  return { requests, logged, exitCode: await exited }
}

/** Only address, key and a spool of its own: what the shell has set for another application would change what is shown. */
function appEnvironment() {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PINO_INGEST_'))
  return { ...Object.fromEntries(others), PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: 'demo', PINO_INGEST_SPOOL_DIR: spoolDir }
}
