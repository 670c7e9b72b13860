/** A route handler. It replies immediately, and `after` keeps the function alive until all entries are delivered. */
import { after } from 'next/server'
import { flush } from 'pino-ingest'
import { logger } from '../../../logger'

export const runtime = 'nodejs'

/** Limits the billed time while the log service is down. */
const FLUSH_MS = 2_000

interface Order {
  readonly id: number
  readonly total: number
}

export async function POST(request: Request): Promise<Response> {
  after(() => flush(logger, { timeoutMs: FLUSH_MS }))
  const log = logger.child({ request_id: request.headers.get('x-request-id') ?? crypto.randomUUID() })
  try {
    const { id, total } = (await request.json()) as Order
    if (!(total > 0)) throw new RangeError(`order ${id} has no total`)
    log.info({ orderId: id, total }, 'order placed')
    return Response.json({ id }, { status: 201 })
  } catch (error) {
    log.error(error, 'order failed')
    return Response.json({ error: 'order failed' }, { status: 400 })
  }
}
