/**
 * An application under test that waits for signals, as a real process. It reports events by IPC, and follows commands.
 *
 * `PLAN`: before, after: who else listens, registered before or after ours (once | on | signal-exit); calls: how many calls of
 * `flushOnSignal`; options: of each; undo: whether it is undone at once.
 * Reports `flushing` and `app` (its own handler runs), `cleaned` (signal-exit's callback). Receives `flushed`, `ping`, `end`.
 */
import { flushOnSignal } from 'pino-ingest'

const APP_EXIT_CODE = 7
const plan = JSON.parse(process.env.PLAN)

process.on('message', (word) => {
  if (word === 'ping') process.send('pong')
  if (word === 'end') process.exit(APP_EXIT_CODE)
})

/** As the package does: cleans up, and sends the signal again where nobody but its own copies listens. */
function listenAsSignalExit() {
  const emitter = { count: 1 }
  globalThis[Symbol.for('signal-exit emitter')] = emitter
  const onSignal = () => {
    if (process.listeners('SIGTERM').length !== emitter.count) return
    process.off('SIGTERM', onSignal)
    process.kill(process.pid, 'SIGTERM')
  }
  process.on('SIGTERM', onSignal)
  process.once('exit', () => process.send('cleaned'))
}

function listen(kind) {
  if (kind === 'once' || kind === 'on') process[kind]('SIGTERM', () => process.send('app'))
  if (kind === 'signal-exit') listenAsSignalExit()
}

/** Its flush takes until it receives `end`, or until a signal ends all. */
function slowLogger() {
  const flush = () =>
    new Promise((resolve) => {
      const onWord = (word) => {
        if (word !== 'flushed') return
        process.off('message', onWord)
        resolve({ state: 'acknowledged' })
      }
      process.on('message', onWord)
      process.send('flushing')
    })
  return { [Symbol('pino.stream')]: { [Symbol.for('pino-ingest.flush')]: flush } }
}

listen(plan.before)
for (let call = 0; call < (plan.calls ?? 1); call += 1) {
  const undo = flushOnSignal(slowLogger(), plan.options)
  if (plan.undo) undo()
}
listen(plan.after)
process.send('ready')
