/** Creates the code that connects an application to this service (pure). */
import type { ServiceStatus } from '../../query/api-types.js'

type Address = Pick<ServiceStatus, 'url' | 'is_default_url'>

/** Returns a few lines of code. They include URL and key only if the service has another address than the default. */
export function formatConnectLines({ url, is_default_url: isDefault }: Address): string {
  const address = isDefault ? '' : `url: '${url}', apiKey: 'any', `
  return [
    `import pino from 'pino'`,
    `import { ingestOptions } from 'pino-ingest'`,
    ``,
    `const logger = pino(ingestOptions({ ${address}service: 'checkout' }))`,
    `logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')`,
    `logger.error(new Error('card declined'), 'payment failed')`,
  ].join('\n')
}

/** Returns the command for an application that already uses the transport, without a URL in its code. */
export function formatStartLine({ url, is_default_url: isDefault }: Address): string {
  return `${isDefault ? '' : `PINO_INGEST_URL=${url} PINO_INGEST_API_KEY=any `}node app.mjs`
}
