/**
 * A Lambda function as you would write it. Between two invocations Lambda stops the process, timers and requests included: what is
 * not delivered when the handler returns waits for the next invocation, which may never come. So the handler waits for it.
 *
 * Set PINO_INGEST_URL and PINO_INGEST_API_KEY for the function.
 */
import pino from 'pino'
import { flush, ingestStream } from 'pino-ingest'

/** Of the invocation's own time, what stays for its response. */
const RESERVE_MS = 300
/** A log service that is down must not hold up the caller for longer. */
const MAX_FLUSH_MS = 2_000

// Made once, while the function starts: connections and what could not be sent yet outlive an invocation.
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
