/** Shared by all shops: a customer, an error with a code and a cause, the records at the start, the modes. */
import { ingestOptions } from 'pino-ingest'

export const port = Number(process.env.PORT)
export const jane = { id: 'u-42', email: 'jane@example.com', name: 'Jane' }

process.once('SIGTERM', () => process.exit(0))

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

/** @returns the error that `charge` throws */
export function declined() {
  try {
    return charge()
  } catch (error) {
    return error
  }
}

/** The pino options for the mode in `WAY`. */
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

/** @param logger a pino logger, or one with the same methods */
export function open(logger) {
  logger.info({ orders: 3 }, 'shop is open')
  logger.warn('stock is low')
  logger.error(declined(), 'payment failed')
}
