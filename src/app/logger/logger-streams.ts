/** [main] The streams behind a logger: pino's stream to its worker, in-process streams, or several. */
import type { EventEmitter } from 'node:events'
import { FLUSH_METHOD } from '../../transport/flush-message.js'
import { readPinoProperty } from './pino-symbols.js'

/**
 * The logger's stream: pino's, the application's, or several in a multistream. Empty for an object that is not a
 * logger.
 */
export function findLoggerStreams(logger: object): readonly object[] {
  return toStreams(readPinoProperty(logger, 'pino.stream'))
}

/** The streams of a logger or a multistream that may lead to this package's transport, or the stream itself. */
export function findIngestStreams(target: object): readonly object[] {
  const streams = toStreams(readPinoProperty(target, 'pino.stream') ?? target)
  return [...new Set(streams)].filter((stream) => FLUSH_METHOD in stream || isWorkerStream(stream))
}

/**
 * Whether this is a stream of `pino.transport()`, which sends `message` events to the worker and emits the worker's
 * `EVENT`s.
 */
export function isWorkerStream(stream: object): boolean {
  return 'worker' in stream && 'emit' in stream
}

const reachable = new Set<object>()

/** Keeps pino's streams of the logger: see `keepReachable`. */
export function keepWorkersReachable(logger: object): void {
  for (const stream of findLoggerStreams(logger)) if (isWorkerStream(stream)) keepReachable(stream as EventEmitter)
}

/**
 * Keeps a stream until it closes. If no later code uses a logger, V8 may collect it, and pino then ends its worker, even
 * if entries wait there for the service.
 */
export function keepReachable(stream: EventEmitter): void {
  if (reachable.has(stream)) return
  reachable.add(stream)
  stream.once('close', () => reachable.delete(stream))
}

function toStreams(stream: unknown): readonly object[] {
  const several =
    typeof stream === 'object' && stream !== null && 'streams' in stream && Array.isArray(stream.streams)
      ? (stream.streams as unknown[]).map((one) => (one as { stream?: unknown } | null)?.stream)
      : [stream]
  return several.filter((one) => typeof one === 'object' && one !== null)
}
