/** How an application is connected to this service (pure). */
import type { ServiceStatus } from '../../query/api-types.js'

type Address = Pick<ServiceStatus, 'url' | 'is_default_url'>

/** The five lines. With the URL, and then a key, only where the transport would not find the service by itself. */
export function connectLines({ url, is_default_url: isDefault }: Address): string {
  const address = isDefault ? '' : `url: '${url}', apiKey: 'any', `
  return [
    `import pino from 'pino'`,
    ``,
    `const options = { ${address}service: 'checkout' }`,
    `const logger = pino({ transport: { target: 'pino-ingest', options } })`,
    `logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')`,
    `logger.error(new Error('card declined'), 'payment failed')`,
  ].join('\n')
}

/** An application that has the transport already, and no address of its own in code. */
export function startLine({ url, is_default_url: isDefault }: Address): string {
  return `${isDefault ? '' : `PINO_INGEST_URL=${url} PINO_INGEST_API_KEY=any `}node app.js`
}
