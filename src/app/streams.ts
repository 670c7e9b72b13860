/** [main] Where a logger's lines go: pino's stream to its worker, streams in this thread, or several of both. */

/** Behind the logger: pino's own, one that the app made, or several in a multistream. Empty for what is no logger. */
export function streamsBehind(logger: object): readonly object[] {
  const stream = streamOf(logger)
  const several = typeof stream === 'object' && stream !== null && 'streams' in stream && Array.isArray(stream.streams)
    ? (stream.streams as unknown[]).map((one) => (one as { stream?: unknown } | null)?.stream) : [stream]
  return several.filter((one) => typeof one === 'object' && one !== null)
}

/** Of pino's transports: what it emits as `message` goes to the worker, whose `EVENT`s it emits. */
export function isWorkerStream(stream: object): boolean {
  return 'worker' in stream && 'emit' in stream
}

/** pino keeps it under a symbol of its own; a child has it from its parent. pino itself is not loaded for its name. */
function streamOf(logger: object): unknown {
  for (let at: object | null = logger; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const symbol = Object.getOwnPropertySymbols(at).find(({ description }) => description === 'pino.stream')
    if (symbol !== undefined) return (at as Record<symbol, unknown>)[symbol]
  }
  return undefined
}
