/** [main] Where a logger's lines go: pino's stream to its worker, streams in this thread, or several of both. */
import { FLUSH_METHOD } from '../../transport/flush-message.js'
import { readPinoProperty } from './pino-symbols.js'

/** Behind the logger: pino's own, one that the app made, or several in a multistream. Empty for what is no logger. */
export function findLoggerStreams(logger: object): readonly object[] {
  return toStreams(readPinoProperty(logger, 'pino.stream'))
}

/** Those that this package's transport may stand behind: of a logger, of a multistream, or the stream itself. */
export function findIngestStreams(target: object): readonly object[] {
  const streams = toStreams(readPinoProperty(target, 'pino.stream') ?? target)
  return [...new Set(streams)].filter((stream) => FLUSH_METHOD in stream || isWorkerStream(stream))
}

/** Of pino's transports: what it emits as `message` goes to the worker, whose `EVENT`s it emits. */
export function isWorkerStream(stream: object): boolean {
  return 'worker' in stream && 'emit' in stream
}

function toStreams(stream: unknown): readonly object[] {
  const several =
    typeof stream === 'object' && stream !== null && 'streams' in stream && Array.isArray(stream.streams)
      ? (stream.streams as unknown[]).map((one) => (one as { stream?: unknown } | null)?.stream)
      : [stream]
  return several.filter((one) => typeof one === 'object' && one !== null)
}
