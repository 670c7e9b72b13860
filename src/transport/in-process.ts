/**
 * [main] The transport without a worker: for serverless functions, bundled applications, runtimes without workers, and
 * tests. The same pipeline, in the application's own thread.
 */
import { backgroundClock, systemClock } from '../shared/clock.js'
import { loadHookSync } from '../filter/load-hook.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import type { IngestOptions } from '../options/resolve-options.js'
import { Pipeline } from '../pipeline/pipeline.js'
import { TransportStream } from './transport-stream.js'
import type { IngestTransport } from './transport-stream.js'

/**
 * A destination for `pino(options, ingestStream({ url, apiKey }))`.
 *
 * When the event loop runs empty, what is pending gets `shutdownTimeoutMs`; a request under way keeps the process alive
 * until its reply, or for `requestTimeoutMs`. `process.exit()` gives no time at all: flush, or `stream.end()` and await `close`, before it; what
 * is lost otherwise is counted and told on stderr.
 * pino's configuration does not come here: another `messageKey`, `errorKey` or custom levels are given as options.
 *
 * @throws IngestError `CONFIG` naming each option that is missing or wrong.
 */
export function ingestStream(options: IngestOptions = {}): IngestTransport {
  const settings = resolveFromProcess(options)
  const hook = settings.beforeSend === undefined ? undefined : loadHookSync(settings.beforeSend)
  const stream = new TransportStream({
    clock: systemClock,
    isWorker: false,
    createPipeline: (emit) => new Pipeline({ settings, hook, clock: backgroundClock, emit, isInProcess: true }),
  })
  stream.once('close', watchExit(stream.pipeline, settings.shutdownTimeoutMs))
  return stream as IngestTransport
}

interface Watched {
  readonly timeoutMs: number
  /** Records received when the loop last ran empty: once for each state of affairs is enough. */
  triedAt: number
}

/** One pair of listeners on the process serves all streams. */
const watched = new Map<Pipeline, Watched>()

/** @returns a function that undoes it. */
function watchExit(pipeline: Pipeline, timeoutMs: number): () => void {
  if (watched.size === 0) {
    process.on('beforeExit', onBeforeExit)
    process.on('exit', onExit)
  }
  watched.set(pipeline, { timeoutMs, triedAt: -1 })
  return () => {
    watched.delete(pipeline)
    if (watched.size > 0) return
    process.off('beforeExit', onBeforeExit)
    process.off('exit', onExit)
  }
}

/** The event comes again whenever something was done in it. */
function onBeforeExit(): void {
  for (const [pipeline, state] of watched) {
    pipeline.flushRepeats()
    const { received } = pipeline.account
    if (pipeline.pendingEntries === 0 || state.triedAt === received) continue
    state.triedAt = received
    // The pipeline's own timers keep no process alive; this one does, for as long as is promised.
    const cancel = systemClock.timer(state.timeoutMs, () => {})
    void pipeline.flushNow().then(cancel)
  }
}

function onExit(): void {
  for (const pipeline of watched.keys()) pipeline.abandon()
}
