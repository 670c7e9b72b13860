/** Log records of a shop. Each has a number, by which the demo detects missing entries. */

const PATHS = ['/products', '/orders', '/orders/1001', '/cart', '/checkout']
const CUSTOMERS = ['ada', 'grace', 'edsger', 'barbara']

export function logOne(logger, n) {
  const request = {
    method: n % 4 === 0 ? 'POST' : 'GET',
    url: PATHS[n % PATHS.length],
    headers: { 'user-agent': 'shop-web/3.1' },
  }
  const customer = CUSTOMERS[n % CUSTOMERS.length]
  if (n % 200 === 0)
    logger.error({ n, customer, err: new Error('the payment service does not answer') }, 'order failed')
  else if (n % 20 === 0) logger.warn({ n, customer, sku: 'mug', left: n % 7 }, 'stock is low')
  else if (n % 3 === 0)
    logger.info({ n, customer, order: { id: 1000 + n, total: 42.5, currency: 'EUR' } }, 'order placed')
  else logger.info({ n, req: request, res: { statusCode: 200 }, responseTime: n % 90 }, 'request completed')
}
