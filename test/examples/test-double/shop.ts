/** The application under test: it takes the logger that it is given. */
import type { Logger } from 'pino'

export interface Order {
  readonly id: number
  readonly total: number
  readonly customer: string
}

export function placeOrder(logger: Logger, order: Order): boolean {
  const log = logger.child({ orderId: order.id })
  if (order.total < 0) {
    log.error(new RangeError(`total ${order.total} is negative`), 'order refused')
    return false
  }
  log.info({ total: order.total, user: { id: order.customer } }, 'order placed')
  return true
}
