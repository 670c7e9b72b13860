/** The application's process: started, heard, and ended in time. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Against hanging; a machine that is busy takes its time. */
const TIMEOUT_MS = 30_000

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
    /** Its first message: where its services listen. */
    ready: said(),
    exited,
    /** @returns how many lines its logger wrote, and how it ended */
    async end() {
      const answer = said()
      if (app.connected) app.send('end of the day')
      const { logged } = await answer
      return { logged, exitCode: await exited }
    },
    /** It is killed where the work takes too long, which then fails. */
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
