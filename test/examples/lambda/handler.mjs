/**
 * A Lambda function. Between invocations Lambda freezes the process, including timers and requests. Entries that were not delivered
 * before the handler returns wait for the next invocation, which may never come. So the handler flushes before it returns.
 *
 * Set PINO_INGEST_URL and PINO_INGEST_API_KEY for the function.
 */
import pino from 'pino'
import { flush, ingestStream } from 'pino-ingest'

/** Time of the invocation that is reserved for its response. */
const RESERVE_MS = 300
/** Limits the delay for the caller while the log service is down. */
const MAX_FLUSH_MS = 2_000

// Created once per process: connections and unsent entries persist across invocations.
const logger = pino(
  ingestStream({
    service: process.env.AWS_LAMBDA_FUNCTION_NAME ?? 'orders',
    version: process.env.AWS_LAMBDA_FUNCTION_VERSION ?? 'local',
  }),
)

export const handler = async (event, context) => {
  const log = logger.child({ request_id: context.awsRequestId })
  try {
    log.info({ orderId: event.orderId }, 'order received')
    if (!(event.total > 0)) throw new RangeError(`order ${event.orderId} has no total`)
    log.info({ orderId: event.orderId, total: event.total }, 'order placed')
    return { statusCode: 201, body: JSON.stringify({ orderId: event.orderId }) }
  } catch (error) {
    log.error(error, 'order failed')
    throw error
  } finally {
    const leftMs = context.getRemainingTimeInMillis() - RESERVE_MS
    await flush(logger, { timeoutMs: Math.max(Math.min(leftMs, MAX_FLUSH_MS), 0) })
  }
}
