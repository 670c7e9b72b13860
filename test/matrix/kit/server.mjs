/** Drives a server: starts it on a free port, asks it once, ends it with SIGTERM. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanEnvironment, collectOutput } from './processes.mjs'

const START_MS = 60_000
const END_MS = 20_000
const POLL_MS = 50

/**
 * @param {readonly string[]} command it gets the port as `PORT`, the host as `HOSTNAME`
 * @param {{ cwd: string, env: import('./types.d.mts').Environment, path: string, endCode: number }} options `endCode` is what an end in order by SIGTERM gives
 * @returns {Promise<import('./types.d.mts').Run>} code 0 if it answered with 200 and ended in order, else its own, or 1
 */
export async function driveServer([program = '', ...args], { cwd, env, path, endCode }) {
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
    const status = await answered(`http://127.0.0.1:${port}${path}`, child)
    child.kill('SIGTERM')
    const killed = setTimeout(() => child.kill('SIGKILL'), END_MS)
    const [code] = await closed
    clearTimeout(killed)
    if (status !== 200) return { code: 1, stdout: `${printed.stdout}\nanswered with ${status}`, stderr: printed.stderr }
    return { code: code === endCode ? 0 : (code ?? undefined), ...printed }
  } finally {
    clearTimeout(deadline)
    child.kill('SIGKILL')
  }
}

/** @param {string} url @param {import('node:child_process').ChildProcess} child @returns {Promise<number | undefined>} */
async function answered(url, child) {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      const response = await fetch(url)
      await response.text()
      return response.status
    } catch {
      await sleep(POLL_MS) // it does not listen yet
    }
  }
  return undefined
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
