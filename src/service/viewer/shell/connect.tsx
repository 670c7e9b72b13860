/** Instructions to connect an application, shown while there are no entries. */
import type { ServiceStatus } from '../../query/api-types.js'
import { Empty } from '../components.js'
import { Copy } from '../detail/notice.js'

export function Connect({ status }: { status: ServiceStatus }) {
  const lines = formatConnectLines(status)
  return (
    <Empty title="Listening. Nothing has arrived yet.">
      <p>Connect an application with these lines. Its logs are shown here within a second.</p>
      <div class="snippet">
        <pre class="code" tabIndex={0} aria-label="Lines that connect an application">
          {lines}
        </pre>
        <Copy label="Copy" text={() => lines} />
      </div>
      <p>
        First run <code>npm install pino pino-ingest</code>. An application that already uses the transport without a{' '}
        <code>url</code> logs here if started as <code>{formatStartLine(status)}</code>
      </p>
    </Empty>
  )
}

type Address = Pick<ServiceStatus, 'url' | 'is_default_url'>

/** Returns a few lines of code. They include URL and key only if the service has another address than the default. */
function formatConnectLines({ url, is_default_url: isDefault }: Address): string {
  const options = isDefault ? " service: 'checkout' " : `\n  url: '${url}', apiKey: 'any', service: 'checkout',\n`
  return [
    `import pino from 'pino'`,
    `import { ingestOptions } from 'pino-ingest'`,
    ``,
    `const logger = pino(ingestOptions({${options}}))`,
    `logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')`,
    `logger.error(new Error('card declined'), 'payment failed')`,
  ].join('\n')
}

/** Returns the command for an application that already uses the transport, without a URL in its code. */
export function formatStartLine({ url, is_default_url: isDefault }: Address): string {
  return `${isDefault ? '' : `PINO_INGEST_URL=${url} PINO_INGEST_API_KEY=any `}node app.mjs`
}
