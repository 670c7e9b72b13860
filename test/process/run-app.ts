/** Starts real applications with the built package, and collects their output and files. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface AppPlan {
  readonly mode: 'target' | 'targets-copy' | 'targets-before' | 'targets-after' | 'pipeline' | 'stream'
  readonly options: Record<string, unknown>
  readonly pinoOptions?: Record<string, unknown>
  readonly count?: number
  readonly perSecond?: number
  /** After this number of records the app reports `paused`, and continues on SIGUSR2. */
  readonly pausesAt?: number
  readonly raw?: string
  readonly end?: 'natural' | 'exit' | 'throw' | 'throw-flush' | 'flush' | 'flush-all' | 'hold' | 'signal' | 'unhandled'
  readonly flushTimeoutMs?: number
  readonly holds?: boolean
  /** Logs when the worker has started. */
  readonly waitsForWorker?: boolean
  readonly logsError?: boolean
  readonly otherFile?: string
}

export interface AppEvent {
  readonly name: string
  readonly payload?: unknown
}

export interface AppResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly events: readonly AppEvent[]
  readonly tookMs: number
}

export interface RunningApp {
  /** Resolves with the first event of this name. */
  readonly heard: (name: string) => Promise<AppEvent>
  readonly child: ChildProcess
  readonly done: Promise<AppResult>
}

/** The environment without the variables of the test shell, with a spool per test file. */
export function cleanEnv(extra: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:PINO_INGEST_|npm_|NODE_ENV$|VITEST|OTEL_|HTTPS?_PROXY$|https?_proxy$|GITHUB_|CI$)/.test(name),
  )
  return { ...Object.fromEntries(own), PINO_INGEST_SPOOL_DIR: process.env['PINO_INGEST_SPOOL_DIR'], ...extra }
}

export function startApp(plan: AppPlan, env: Record<string, string | undefined> = {}): RunningApp {
  return startProgram('app.mjs', { PLAN: JSON.stringify(plan), ...env })
}

/** Starts a program of this folder. It may write JSON lines to file descriptor 3. */
function startProgram(file: string, env: Record<string, string | undefined>): RunningApp {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  // A failing test leaves no process behind.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
  const text = ['', '', '', '']
  for (const fd of [1, 2, 3]) {
    child.stdio[fd]?.on('data', (chunk: Buffer) => {
      text[fd] += chunk.toString()
    })
  }
  const done = new Promise<AppResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({
        code,
        signal,
        stdout: text[1] as string,
        stderr: text[2] as string,
        events: eventsIn(text[3] as string),
        tookMs: performance.now() - startedAt,
      }),
    )
  })
  const heard = async (name: string): Promise<AppEvent> => {
    for (;;) {
      const event = eventsIn(text[3] as string).find((one) => one.name === name)
      if (event !== undefined) return event
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the app ended without ${name}: ${text[2]}`)
      await Promise.race([once(child.stdio[3] as NodeJS.ReadableStream, 'data'), once(child, 'close')])
    }
  }
  return { child, done, heard }
}

/** Complete lines only. */
function eventsIn(text: string): AppEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AppEvent)
}

export function runApp(plan: AppPlan, env: Record<string, string | undefined> = {}): Promise<AppResult> {
  return startApp(plan, env).done
}

export function runProgram(file: string, env: Record<string, string | undefined>): Promise<AppResult> {
  return startProgram(file, env).done
}

/** Names and contents of all files below a folder. */
export function contentsBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => `${path}\n${readFileSync(path, 'latin1')}`)
    .join('\n')
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const IMPORTS = `import pino from '${ROOT}node_modules/pino/pino.js'
import * as ingest from '${ROOT}dist/esm/index.js'
const { flush, ingestOptions, ingestStream } = ingest
const options = JSON.parse(process.env.OPTIONS)
`

export interface ScriptResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs the text of an ES module with `pino`, `options` and the exports of this package. A run of more than 30 s is
 * killed.
 * @param flags of Node
 */
export function runScript(
  text: string,
  options: object,
  { cwd, flags = [] }: { readonly cwd?: string; readonly flags?: readonly string[] } = {},
): Promise<ScriptResult> {
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', IMPORTS + text], {
    cwd,
    env: cleanEnv({ OPTIONS: JSON.stringify(options) }),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)))
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr })))
}
