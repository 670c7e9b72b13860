/**
 * An application under test that waits for signals, run as a real process. It reports events by IPC and receives
 * commands.
 *
 * `PLAN`: before, after: other listeners, registered before or after `flushOnSignal` (once | on | signal-exit | raises);
 * calls: the number of calls of `flushOnSignal`; options: of each call; undo: whether to undo them at once.
 * Reports `flushing`, `app` (its own handler runs) and `cleaned` (the callback of signal-exit). Receives `flushed`,
 * `ping`, `close` (the listener of `raises` removes itself and sends the signal again), `end`.
 */
import { flushOnSignal } from 'pino-ingest'

const APP_EXIT_CODE = 7
const plan = JSON.parse(process.env.PLAN)

process.on('message', (word) => {
  if (word === 'ping') process.send('pong')
  if (word === 'end') process.exit(APP_EXIT_CODE)
})

/** Behaves as the package signal-exit: cleans up, and sends the signal again if only its own copies listen. */
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

/** Behaves as the shutdown hooks of NestJS and terminus. */
function listenAndRaise() {
  const onSignal = (signal) => {
    process.on('message', (word) => {
      if (word !== 'close') return
      process.off('SIGTERM', onSignal)
      process.kill(process.pid, signal)
    })
  }
  process.on('SIGTERM', onSignal)
}

function listen(kind) {
  if (kind === 'raises') listenAndRaise()
  if (kind === 'once' || kind === 'on') process[kind]('SIGTERM', () => process.send('app'))
  if (kind === 'signal-exit') listenAsSignalExit()
}

/** Its flush lasts until it receives `flushed`, or until the process ends. It then logs a record, without which the next flush would end at once. */
function slowLogger() {
  const flush = () =>
    new Promise((resolve) => {
      const onWord = (word) => {
        if (word !== 'flushed') return
        process.off('message', onWord)
        resolve({ state: 'acknowledged' })
        setImmediate(() => stream.write('a record'))
      }
      process.on('message', onWord)
      process.send('flushing')
    })
  const stream = { write() {}, [Symbol.for('pino-ingest.flush')]: flush }
  return { [Symbol('pino.stream')]: stream }
}

listen(plan.before)
for (let call = 0; call < (plan.calls ?? 1); call += 1) {
  const undo = flushOnSignal(slowLogger(), plan.options)
  if (plan.undo) undo()
}
listen(plan.after)
process.send('ready')
