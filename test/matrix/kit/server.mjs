/** Starts a server on a free port, sends requests to it, and ends it with SIGTERM. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanEnvironment, collectOutput } from './processes.mjs'

const START_MS = 60_000
const END_MS = 20_000
const POLL_MS = 50

/**
 * @param {readonly string[]} command receives the port as `PORT` and the host as `HOSTNAME`
 * @param {object} options
 * @param {string} options.cwd
 * @param {import('./types.d.mts').Environment} options.env
 * @param {(base: string) => Promise<string | undefined>} options.ask is repeated while it throws; returns what is
 *   wrong with the reply
 * @param {number} options.endCode exit code of a graceful end by SIGTERM
 * @returns {Promise<import('./types.d.mts').Run>} code 0 if the reply was right and the server ended gracefully,
 *   otherwise its own code, or 1
 */
export async function driveServer([program = '', ...args], { cwd, env, ask, endCode }) {
  const port = await freePort()
  const child = spawn(program, args, {
    cwd,
    env: cleanEnvironment({ ...env, PORT: String(port), HOSTNAME: '127.0.0.1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  const printed = collectOutput(child)
  const deadline = setTimeout(() => child.kill('SIGKILL'), START_MS)
  try {
    const wrong = await answered(() => ask(`http://127.0.0.1:${port}`), child)
    child.kill('SIGTERM')
    const killed = setTimeout(() => child.kill('SIGKILL'), END_MS)
    const [code] = await closed
    clearTimeout(killed)
    if (wrong !== undefined) return { code: 1, stdout: `${printed.stdout}\n${wrong}`, stderr: printed.stderr }
    return { code: code === endCode ? 0 : (code ?? undefined), ...printed }
  } finally {
    clearTimeout(deadline)
    child.kill('SIGKILL')
  }
}

/** @param {() => Promise<string | undefined>} ask @param {import('node:child_process').ChildProcess} child */
async function answered(ask, child) {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      return await ask()
    } catch {
      await sleep(POLL_MS) // not yet listening
    }
  }
  return 'ended before it answered'
}

/** An `ask` that expects status 200. @param {string} path */
export function get(path) {
  return async (/** @type {string} */ base) => {
    const response = await fetch(base + path)
    await response.text()
    return response.status === 200 ? undefined : `answered with ${response.status}`
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}
