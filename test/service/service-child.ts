/** Starts the service in its own process. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { IngestServiceOptions } from '../../src/service/index.js'
import { cleanEnv } from '../process/run-app.js'

export interface Memory {
  readonly bytes: number
  /** Peak resident memory in bytes. */
  readonly peakBytes: number
}

export interface ServiceChild {
  readonly child: ChildProcess
  readonly url: string
  readonly origin: string
  readonly port: number
  readonly token: string
  readonly memory: () => Promise<Memory>
  readonly kill: () => Promise<void>
}

export async function startChild(
  options: IngestServiceOptions = {},
  execPath = process.execPath,
): Promise<ServiceChild> {
  const file = fileURLToPath(new URL('service-child.mjs', import.meta.url))
  const child = fork(file, [JSON.stringify(options)], { execPath, env: cleanEnv(), execArgv: [] })
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  onTestFinished(kill)
  const [place] = (await once(child, 'message')) as [Pick<ServiceChild, 'url' | 'origin' | 'port' | 'token'>]
  const memory = async (): Promise<Memory> => {
    child.send('memory')
    const [answer] = (await once(child, 'message')) as [Memory]
    return answer
  }
  return { ...place, child, memory, kill }
}
