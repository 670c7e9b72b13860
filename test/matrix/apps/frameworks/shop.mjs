/** What every shop has: a customer, an error with a code and a cause, and what it logs when it opens. */
import { ingestOptions } from 'pino-ingest'

process.once('SIGTERM', () => process.exit(0))

export const port = Number(process.env.PORT)
export const jane = { id: 'u-42', email: 'jane@example.com', name: 'Jane' }

class PaymentError extends Error {
  name = 'PaymentError'
  code = 'E_CARD'
}

function askIssuer() {
  throw new Error('issuer timeout')
}

export function charge() {
  try {
    askIssuer()
  } catch (cause) {
    throw new PaymentError('card declined', { cause })
  }
}

/** @returns what `charge` throws */
export function declined() {
  try {
    return charge()
  } catch (error) {
    return error
  }
}

/** pino's options, completed as `WAY` says. */
export function withIngest(options = {}) {
  switch (process.env.WAY) {
    case 'transport':
      return { ...options, transport: { target: 'pino-ingest' } }
    case 'ingestOptions()':
      return ingestOptions(options)
    default:
      return options
  }
}

/** @param logger pino's, or one with the same methods */
export function open(logger) {
  logger.info({ orders: 3 }, 'shop is open')
  logger.warn('stock is low')
  logger.error(declined(), 'payment failed')
}
