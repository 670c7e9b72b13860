/** Processes with their output, and commands of pino-ingest. They are killed when this process exits. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nowMs } from '../faults/monotonic.mjs'

const CLI = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))
/** Limit of captured output. */
const MAX_CHARS = 100_000

/** Without the shell's settings for other applications. */
export const cleanEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:PINO_INGEST_|NODE_ENV$|VITEST)/.test(name)),
)

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export class Process {
  /** stdout and stderr. */
  output = ''
  /** The signal sent by `kill()`, and its time on the monotonic clock. @type {{ signal: NodeJS.Signals, at: number } | undefined} */
  killed

  /** @param {import('node:child_process').ChildProcess} child */
  constructor(child) {
    this.child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk) => {
        this.output = `${this.output}${chunk}`.slice(-MAX_CHARS)
      })
    }
    running.add(child)
    /** @type {Promise<number | NodeJS.Signals>} */
    this.exited = once(child, 'close').then(([code, signal]) => {
      running.delete(child)
      return code ?? signal
    })
  }

  get isRunning() {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** @param {NodeJS.Signals} [signal] */
  kill(signal = 'SIGKILL') {
    if (this.isRunning) {
      this.killed = { signal, at: nowMs() }
      this.child.kill(signal)
    }
    return this.exited
  }
}

/** @param {readonly string[]} args @param {Record<string, string>} env */
export function startCommand(args, env) {
  return new Process(spawn(process.execPath, [CLI, ...args], { env: { ...cleanEnv, ...env }, stdio: 'pipe' }))
}

/** Runs a command until it exits. @param {readonly string[]} args @param {Record<string, string>} env @throws if it fails */
export async function runCommand(args, env) {
  const command = startCommand(args, env)
  const code = await command.exited
  if (code !== 0) throw new Error(`pino-ingest ${args.join(' ')} ended with ${code}: ${command.output}`)
}
