/** Starts real applications against the built package, and collects what they say. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface AppPlan {
  readonly mode: 'target' | 'targets-copy' | 'targets-before' | 'targets-after' | 'pipeline' | 'stream'
  readonly options: Record<string, unknown>
  readonly pinoOptions?: Record<string, unknown>
  readonly count?: number
  readonly perSecond?: number
  readonly raw?: string
  readonly end?: 'natural' | 'exit' | 'throw' | 'flush' | 'hold'
  readonly logsError?: boolean
  readonly neighbourFile?: string
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
  readonly child: ChildProcess
  readonly done: Promise<AppResult>
}

/** Without the variables of the shell that runs the tests. */
export function cleanEnv(extra: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) =>
    !/^(?:PINO_INGEST_|npm_|NODE_ENV$|VITEST|OTEL_|HTTPS?_PROXY$|https?_proxy$|GITHUB_|CI$)/.test(name))
  return { ...Object.fromEntries(own), ...extra }
}

export function startApp(plan: AppPlan, env: Record<string, string | undefined> = {}): RunningApp {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [fileURLToPath(new URL('app.mjs', import.meta.url))], {
    env: cleanEnv({ PLAN: JSON.stringify(plan), ...env }),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const text = ['', '', '', '']
  for (const fd of [1, 2, 3]) {
    child.stdio[fd]?.on('data', (chunk: Buffer) => {
      text[fd] += chunk.toString()
    })
  }
  const done = new Promise<AppResult>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({
      code,
      signal,
      stdout: text[1] as string,
      stderr: text[2] as string,
      events: (text[3] as string).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as AppEvent),
      tookMs: performance.now() - startedAt,
    }))
  })
  return { child, done }
}

export function runApp(plan: AppPlan, env: Record<string, string | undefined> = {}): Promise<AppResult> {
  return startApp(plan, env).done
}
