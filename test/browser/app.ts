/** Starts `app.mjs`, a real application in its own process, and sends it commands. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { cleanEnv } from '../process/run-app.js'

export interface App {
  /** @returns time of the call in milliseconds since the epoch, and its result */
  ask(
    call: 'log' | 'release' | 'fail' | 'feedback',
    parameters: Record<string, string>,
  ): Promise<{ readonly at: number; readonly result: unknown }>
}

/** Starts the application; it is stopped when the test ends. */
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
