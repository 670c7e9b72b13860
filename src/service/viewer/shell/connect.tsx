/** Instructions to connect an application, shown while there are no entries. */
import type { ServiceStatus } from '../../query/api-types.js'
import { Empty } from '../components.js'
import { Copy } from '../detail/notice.js'

export function Connect({ status }: { status: ServiceStatus }) {
  return (
    <Empty title="Listening. Nothing has arrived yet.">
      <p>Connect an application with these lines. Its logs are shown here within a second.</p>
      <div class="snippet">
        <pre class="code" tabIndex={0} aria-label="Lines that connect an application">
          {LINES}
        </pre>
        <Copy label="Copy" text={() => LINES} />
      </div>
      <p>
        First run <code>npm install pino pino-ingest</code>. Start the application as{' '}
        <code>{formatStartLine(status)}</code>
      </p>
    </Empty>
  )
}

const LINES = `import pino from 'pino'
import { ingestOptions } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')
logger.error(new Error('card declined'), 'payment failed')`

/** Returns the command for an application without a URL in its code. */
export function formatStartLine({ url }: Pick<ServiceStatus, 'url'>): string {
  return `PINO_INGEST_URL=${url} node app.mjs`
}
