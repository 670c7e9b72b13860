/**
 * [main] The transport without a worker: for serverless functions, bundled applications, runtimes without workers, and
 * tests. The same pipeline, in the application's own thread.
 */
import { backgroundClock, systemClock } from './clock.js'
import { resolveFromProcess } from './options.js'
import type { IngestOptions } from './options.js'
import { Pipeline } from './pipeline.js'
import { frame } from './transport.js'
import type { IngestTransport } from './transport.js'

/**
 * A destination for `pino(options, ingestStream({ url, apiKey }))`.
 *
 * It keeps no process alive for longer than `shutdownTimeoutMs`: when the event loop runs empty, that long is given to
 * what is pending. `process.exit()` gives no time at all: flush, or `stream.end()` and await `close`, before it; what
 * is lost otherwise is counted and told on stderr.
 * pino's configuration does not come here: another `messageKey`, `errorKey` or custom levels are given as options.
 *
 * @throws IngestError `CONFIG` naming each option that is missing or wrong.
 */
export function ingestStream(options: IngestOptions = {}): IngestTransport {
  const settings = resolveFromProcess(options)
  let pipeline: Pipeline | undefined
  const stream = frame((emit) => (pipeline = new Pipeline({ settings, clock: backgroundClock, emit })))
  const unhook = pipeline === undefined ? () => {} : hookExit(pipeline, settings.shutdownTimeoutMs)
  stream.once('close', unhook)
  return stream
}

/** @returns a function that undoes it. */
function hookExit(pipeline: Pipeline, timeoutMs: number): () => void {
  let triedAt = -1
  const onBeforeExit = (): void => {
    // The event comes again whenever something was done in it: once for each state of affairs is enough.
    const { received } = pipeline.account
    if (pipeline.pendingEntries === 0 || triedAt === received) return
    triedAt = received
    const cancel = systemClock.timer(timeoutMs, () => {})
    void pipeline.flush().then(cancel)
  }
  const onExit = (): void => pipeline.abandon()
  process.on('beforeExit', onBeforeExit)
  process.on('exit', onExit)
  return () => {
    process.off('beforeExit', onBeforeExit)
    process.off('exit', onExit)
  }
}
