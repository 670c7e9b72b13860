/** A handler that logs records as the event says, and optionally flushes. `OPTIONS` are those of the stream. */
import pino from 'pino'
import { flush, ingestStream } from 'pino-ingest'

const logger = pino(ingestStream(JSON.parse(process.env.OPTIONS)))

export const handler = async ({ from, count, flushMs }) => {
  for (let n = from; n < from + count; n += 1) logger.info({ n }, 'numbered')
  if (flushMs === undefined) return {}
  const startedAt = performance.now()
  const result = await flush(logger, { timeoutMs: flushMs })
  return { ...result, tookMs: performance.now() - startedAt }
}
