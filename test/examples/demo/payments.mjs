/** The card payments of the shop. The name of a card determines the outcome. */

export class PaymentError extends Error {
  constructor(message, { statusCode, cause }) {
    super(message, { cause })
    this.statusCode = statusCode
  }

  get name() {
    return 'PaymentError'
  }
}

export async function pay(card) {
  if (card === 'no-funds') throw new PaymentError('card declined', { statusCode: 402 })
  try {
    return await askIssuer(card)
  } catch (cause) {
    throw new PaymentError('payment could not be completed', { statusCode: 502, cause })
  }
}

async function askIssuer(card) {
  if (card !== 'broken') return { paymentId: `pay-${card}` }
  const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  throw new Error('the card issuer did not answer', { cause: reset })
}
