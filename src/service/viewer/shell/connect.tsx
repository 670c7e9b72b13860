/** Instructions to connect an application, shown while there are no entries. */
import type { ServiceStatus } from '../../query/api-types.js'
import { Empty } from '../components.js'
import { Copy } from '../detail/copy.js'
import { formatConnectLines, formatStartLine } from './connect-lines.js'

export function Connect({ status }: { status: ServiceStatus }) {
  const lines = formatConnectLines(status)
  return (
    <Empty title="Listening. Nothing has arrived yet.">
      <p>Connect an application with these five lines. Its logs are shown here within a second.</p>
      <div class="snippet">
        <pre class="code" tabIndex={0} aria-label="Lines that connect an application">
          {lines}
        </pre>
        <Copy class="button small" label="Copy" text={() => lines} />
      </div>
      <p>
        First run <code>npm install pino pino-ingest</code>. An application that already uses the transport without a{' '}
        <code>url</code> logs here if started as <code>{formatStartLine(status)}</code>
      </p>
    </Empty>
  )
}
