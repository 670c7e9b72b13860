/** Starts `app.mjs`, a real application in a process of its own, and asks it to log. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { cleanEnv } from '../process/run-app.js'

export interface App {
  /** @returns when the call was made, in milliseconds since the epoch, and what it returned */
  ask(
    call: 'log' | 'release' | 'fail' | 'feedback',
    parameters: Record<string, string>,
  ): Promise<{ readonly at: number; readonly result: unknown }>
}

/** Ends with the test. */
export function startApp(url: string): App {
  const child = fork(fileURLToPath(new URL('app.mjs', import.meta.url)), {
    env: cleanEnv({ PINO_INGEST_URL: url, PINO_INGEST_API_KEY: 'any' }),
  })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    async ask(call, parameters) {
      child.send({ call, ...parameters })
      const early = ended.then(([code, signal]) => {
        throw new Error(`the application ended early, with ${code ?? signal}`)
      })
      const [answer] = (await Promise.race([once(child, 'message'), early])) as [{ at: number; result: unknown }]
      return answer
    },
  }
}
