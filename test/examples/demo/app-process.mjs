/** Starts and ends the application's process, with a timeout. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Long, so that only a hanging process exceeds it. */
const TIMEOUT_MS = 120_000

/** @param env its environment */
export function startApp(env) {
  const app = fork(new URL('app.mjs', import.meta.url), { env })
  const exited = once(app, 'exit').then(([code, signal]) => code ?? signal)
  const said = () =>
    Promise.race([
      once(app, 'message').then(([message]) => message),
      exited.then((exitCode) => {
        throw new Error(`the application ended before its work was done, with ${exitCode}`)
      }),
    ])
  return {
    /** Its first message, with the addresses of its services. */
    ready: said(),
    exited,
    /** Ends it. @returns the number of logged lines and the exit code */
    async end() {
      const answer = said()
      if (app.connected) app.send('end of the day')
      const { logged } = await answer
      return { logged, exitCode: await exited }
    },
    /** Kills the process and rejects if the work takes too long. */
    async inTime(work) {
      const timer = setTimeout(() => {
        console.error(`FAILED: the application did not end within ${TIMEOUT_MS / 1000} s`)
        app.kill('SIGKILL')
      }, TIMEOUT_MS)
      try {
        return await work()
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
