/** Faults for pino-ingest only: replies that peers are not expected to handle, or that their protocols do not have. */
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { misbehave, runEnding, runRejecting, through } from './scenarios.mjs'

/** @typedef {import('./scenarios.mjs').Scenario} Scenario */

/** @param {import('./fault-server.mjs').Behavior} behavior */
const runMisbehaving = (behavior) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      const { server } = stage
      const counts = await through(stage, size, async () => {
        const before = server.calls.length
        await misbehave(server, behavior, size.forMs)
        if (server.calls.length === before) counts.wrong.push(`no request met ${behavior.kind}`)
      })
      return stage.outcome({ ...counts, mayDuplicate: server.unanswered })
    }
  )

/** @param {number} status */
const runEverything = (status) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      const counts = await through(stage, size, () => misbehave(stage.server, { kind: 'status', status }, size.forMs))
      const deadLettered = stage.deadLetters().length
      const wrong =
        deadLettered > 0
          ? [...counts.wrong, `${deadLettered} dead letters, although every reply was ${status}`]
          : counts.wrong
      return stage.outcome({ ...counts, wrong, deadLettered })
    }
  )

/** @type {Scenario['run']} */
async function runRedirect(stage, size) {
  let came = 0
  const elsewhere = createServer((_request, response) => response.end('{}'))
  elsewhere.on('connection', () => {
    came += 1
  })
  elsewhere.listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (elsewhere.address())
  const headers = { location: `http://127.0.0.1:${port}/api/v1/ingest` }
  const counts = await through(stage, size, () =>
    misbehave(stage.server, { kind: 'status', status: 301, headers }, size.forMs),
  )
  elsewhere.close()
  await sleep(0)
  return stage.outcome({
    ...counts,
    wrong: came > 0 ? [...counts.wrong, `${came} connections to where the redirect pointed`] : counts.wrong,
  })
}

/** Writes a page of zeros into the middle of each spool file, as after a power failure. @param {import('./stage.mjs').Stage} stage */
function damage({ spoolDir }) {
  const names = existsSync(spoolDir) ? readdirSync(spoolDir, { recursive: true }) : []
  const files = names
    .map((name) => join(spoolDir, String(name)))
    .filter((name) => statSync(name).isFile() && statSync(name).size > 2 * PAGE_BYTES)
  if (files.length === 0) throw new Error(`nothing to damage in ${spoolDir}`)
  for (const file of files) {
    const fd = openSync(file, 'r+')
    writeSync(fd, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, Math.floor(statSync(file).size / 2))
    closeSync(fd)
  }
}

const PAGE_BYTES = 4_096
const ENDING = { full: { count: 10_000 }, quick: { count: 5_000 } }
const REJECTING = { full: { count: 10_000, perSecond: 2_000 }, quick: { count: 2_000, perSecond: 1_000 } }
const FOR_A_WHILE = {
  full: { count: 10_000, perSecond: 1_000, fromMs: 2_000, forMs: 4_000 },
  quick: { count: 2_500, perSecond: 1_000, fromMs: 'first-stored', forMs: 1_200 },
}

/** @type {readonly Scenario[]} */
export const OUR_SCENARIOS = [
  {
    key: 'reset-in-request',
    name: 'reset in the middle of the request',
    mustBe: '0/0',
    run: runMisbehaving({ kind: 'reset-in-request' }),
    limits: { lostAtExit: 0 },
    // Long records, since a short body arrives in one piece.
    full: { ...FOR_A_WHILE.full, padBytes: 4_000 },
    quick: { ...FOR_A_WHILE.quick, padBytes: 4_000 },
  },
  {
    key: 'reset-in-reply',
    name: 'reset in the middle of the reply',
    mustBe: '0/at most what was in flight',
    run: runMisbehaving({ kind: 'reset-in-reply' }),
    limits: { lostAtExit: 0 },
    ...FOR_A_WHILE,
  },
  {
    key: 'slow-bytes',
    name: 'replies byte by byte',
    mustBe: '0/0',
    run: runMisbehaving({ kind: 'slow-bytes', everyMs: 2 }),
    limits: { lostAtExit: 0 },
    ...FOR_A_WHILE,
  },
  {
    key: 'big-reply',
    name: 'replies of 10 MB',
    mustBe: '0/0',
    run: runMisbehaving({ kind: 'big-reply', bytes: 10_000_000 }),
    limits: { lostAtExit: 0, peakRssMib: 160 },
    ...FOR_A_WHILE,
  },
  {
    key: 'framework',
    name: '1 % named by the framework form of 422',
    mustBe: '0/0, these as dead letters',
    run: runRejecting('framework'),
    ...REJECTING,
  },
  {
    key: 'none-accepted',
    name: '1 % named by a result that accepted none',
    mustBe: '0/0, these as dead letters',
    run: runRejecting('none'),
    ...REJECTING,
  },
  {
    key: 'rejected-200',
    name: '1 % named by a result with status 200',
    mustBe: '0/0, these as dead letters',
    run: runRejecting('partly-200'),
    limits: { lostAtExit: 0 },
    ...REJECTING,
  },
  {
    key: 'gateway',
    name: 'a gateway says 400 to everything',
    mustBe: '0/0, no dead letters',
    run: runEverything(400),
    ...FOR_A_WHILE,
  },
  {
    key: 'wrong-key',
    name: '401 for a while',
    mustBe: '0/0, no dead letters',
    run: runEverything(401),
    ...FOR_A_WHILE,
  },
  {
    key: 'natural',
    name: 'natural end, service down',
    mustBe: '0 after the next start',
    run: runEnding('natural'),
    ...ENDING,
  },
  {
    key: 'throw',
    name: 'uncaught exception, service down',
    mustBe: '0 after the next start',
    run: runEnding('throw'),
    ...ENDING,
  },
  {
    key: 'handled',
    name: 'SIGTERM with a handler, service down',
    mustBe: '0 after the next start',
    run: runEnding('hold'),
    ...ENDING,
  },
  {
    key: 'damaged',
    name: 'a page of zeros in the middle of the spool',
    mustBe: 'the damaged frames only',
    run: runEnding('exit'),
    limits: { lost: 100 },
    full: { count: 10_000, between: damage },
    quick: { count: 5_000, between: damage },
  },
  { key: 'redirect', name: '301 to elsewhere', mustBe: '0/0, nothing sent there', run: runRedirect, ...FOR_A_WHILE },
].map((scenario) => ({ ...scenario, isOursOnly: true }))
