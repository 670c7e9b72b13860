/** A function in its sandbox: a real process that is suspended and resumed, as Lambda does between two invocations. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'
import type { FlushResult } from '../../src/index.js'
import { cleanEnv } from '../process/run-app.js'
import { runtimeApi } from './runtime-api.js'
import type { Invocation, Posted } from './runtime-api.js'

export interface Sandbox {
  readonly pid: number
  invoke(event: unknown, invocation?: Invocation): Promise<Posted>
  /** Sends the signal at once, and resolves when the process is suspended. */
  freeze(): Promise<void>
  thaw(): void
  /** Terminates the sandbox. */
  kill(): Promise<void>
  readonly stderr: () => string
}

/** The event of `logging.mjs` and its result. */
export interface Work {
  /** The number of the first record. */
  readonly from: number
  readonly count: number
  /** Timeout of the flush; no flush without it. */
  readonly flushMs?: number
}

export interface Worked extends Partial<FlushResult> {
  /** Duration of the flush in milliseconds. */
  readonly tookMs?: number
}

const EXAMPLE = fileURLToPath(new URL('../examples/lambda', import.meta.url))
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The example's runtime with the example's handler or that of `logging.mjs`. Ends with the test. */
export async function startSandbox(handler: 'example' | 'logging', env: Record<string, string>): Promise<Sandbox> {
  const api = await runtimeApi()
  const child = spawn(process.execPath, [`${EXAMPLE}/runtime.mjs`], {
    env: cleanEnv({
      ...env,
      AWS_LAMBDA_RUNTIME_API: api.address,
      LAMBDA_TASK_ROOT: handler === 'example' ? EXAMPLE : HERE,
      _HANDLER: handler === 'example' ? 'handler.handler' : 'logging.handler',
      AWS_LAMBDA_FUNCTION_NAME: 'orders',
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(async () => {
    await kill()
    await api.close()
  })
  const pid = child.pid as number
  return {
    pid,
    invoke: (event, invocation) =>
      Promise.race([
        api.invoke(event, invocation),
        ended.then(() => Promise.reject(new Error(`the function ended: ${stderr}`))),
      ]),
    async freeze() {
      child.kill('SIGSTOP')
      await vi.waitFor(
        () => {
          if (stateOf(pid) !== 'T') throw new Error(`process ${pid} still runs`)
        },
        { interval: 1, timeout: 30_000 },
      )
    },
    thaw: () => void child.kill('SIGCONT'),
    kill,
    stderr: () => stderr,
  }
}

/** A sandbox with `logging.mjs` that is suspended as soon as its response has arrived. */
export async function work(sandbox: Sandbox, event: Work): Promise<Worked> {
  const { what, result } = await sandbox.invoke(event)
  if (what === 'error') throw new Error(JSON.stringify(result))
  return result as Worked
}

/** See proc_pid_stat(5): T is stopped. */
function stateOf(pid: number): string | undefined {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2)[0]
}
