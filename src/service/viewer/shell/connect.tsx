/** How an application is connected, for those who have no entry yet. */
import type { ServiceStatus } from '../../query/api-types.js'
import { CopyButton, Empty } from '../components.js'
import { connectLines, startLine } from './connect-lines.js'

export function Connect({ status }: { status: ServiceStatus }) {
  const lines = connectLines(status)
  return (
    <Empty title="Listening. Nothing has arrived yet.">
      <p>Connect an application with these five lines; what it logs shows here within a second.</p>
      <div class="snippet">
        <pre class="code" tabIndex={0} aria-label="Lines that connect an application">
          {lines}
        </pre>
        <CopyButton text={lines} label="Copy" />
      </div>
      <p>
        Needed once: <code>npm install pino pino-ingest</code>. An application that has the transport already, without a{' '}
        <code>url</code>, logs to here when it is started as <code>{startLine(status)}</code>
      </p>
    </Empty>
  )
}
