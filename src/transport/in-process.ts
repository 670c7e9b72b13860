/** [main] The transport without a worker: for serverless functions, bundled applications, runtimes without workers, tests. */
import { backgroundClock, systemClock } from '../shared/clock.js'
import type { EmitEvent } from '../diagnostics/reporter.js'
import { loadHookSync } from '../filter/load-hook.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import type { IngestOptions } from '../options/resolve-options.js'
import { Pipeline } from '../pipeline/pipeline.js'
import { TransportStream } from './transport-stream.js'
import type { IngestStream } from './transport-stream.js'

/**
 * A destination for `pino(options, ingestStream({ url, apiKey }))`.
 *
 * When the event loop becomes empty, pending entries get `shutdownTimeoutMs`; a request in flight keeps the process alive until
 * its reply, or for `requestTimeoutMs`. `process.exit()` leaves no time for this: call `flush()` before it, or `stream.end()` and
 * await `close`. What a listener for `exit` logs is stored on disk for the next start. Lost entries are counted and reported on
 * stderr. pino's configuration is not received here: set `messageKey`, `errorKey` and custom levels in the option `pino`.
 *
 * @throws IngestError `CONFIG` that lists each option that is missing or invalid.
 * @example
 * const logger = pino(ingestOptions({ transport: false }), ingestStream({ service: 'checkout' }))
 */
export function ingestStream(options: IngestOptions = {}): IngestStream {
  const settings = resolveFromProcess(options)
  const hook = settings.beforeSend === undefined ? undefined : loadHookSync(settings.beforeSend, settings.secrets)
  const stream = new TransportStream({ clock: systemClock, isWorker: false })
  const emit: EmitEvent = (name, payload) => stream.emit(name, payload)
  const pipeline = new Pipeline({ settings, hook, clock: backgroundClock, emit, isInProcess: true })
  stream.connect(pipeline)
  stream.once('close', watchExit(pipeline, settings.shutdownTimeoutMs))
  return stream as IngestStream
}

interface Watched {
  readonly timeoutMs: number
  /**
   * Number of records received when the latest `beforeExit` ended. Without new records no second attempt is made. A
   * listener that logs at each `beforeExit` would otherwise keep the process alive forever.
   */
  receivedAtBeforeExit: number
}

/** All streams share one pair of listeners on the process. */
const watched = new Map<Pipeline, Watched>()

/** @returns a function that ends the watch */
function watchExit(pipeline: Pipeline, timeoutMs: number): () => void {
  if (watched.size === 0) {
    process.prependListener('beforeExit', onBeforeExit)
    process.on('exit', onExit)
  }
  watched.set(pipeline, { timeoutMs, receivedAtBeforeExit: -1 })
  return () => {
    watched.delete(pipeline)
    if (watched.size > 0) return
    process.off('beforeExit', onBeforeExit)
    process.off('exit', onExit)
  }
}

/** Node emits the event again if a listener, or an attempt to send, starts asynchronous work. */
function onBeforeExit(): void {
  for (const [pipeline, state] of watched) {
    const { account } = pipeline
    const hasNew = account.received !== state.receivedAtBeforeExit
    // Includes what the other listeners of this event log.
    process.nextTick(() => {
      state.receivedAtBeforeExit = account.received
      pipeline.flushRepeats()
      if (!hasNew || pipeline.pendingEntries === 0) return
      // Keeps the process alive; the pipeline's own timers do not.
      const cancel = systemClock.timer(state.timeoutMs, () => {})
      void pipeline.sendRemaining().then(cancel)
    })
  }
}

function onExit(): void {
  for (const pipeline of watched.keys()) pipeline.abandon()
}
