/** The five lines that connect an application to this service (pure). */
import type { Status } from '../../answers.js'

/** With the URL, and then a key, only where the transport would not find the service by itself. */
export function connectLines({ url, is_default_url: isDefault }: Pick<Status, 'url' | 'is_default_url'>): string {
  const address = isDefault ? '' : `url: '${url}', apiKey: 'any', `
  return [
    `import pino from 'pino'`,
    ``,
    `const options = { ${address}service: 'my-app' }`,
    `const logger = pino({ transport: { target: 'pino-ingest', options } })`,
    `logger.info({ orderId: 1017 }, 'order placed')`,
    `logger.error(new Error('card declined'), 'payment failed')`,
  ].join('\n')
}
