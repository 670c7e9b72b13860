/** Code to copy into an application or a terminal. */
import type { ServiceStatus } from '../../query/api-types.js'
import { Copy } from '../detail/copy.js'
import { startLine } from '../shell/connect-lines.js'
import { useQuery } from '../use-query.js'

export function Snippet({ code }: { readonly code: string }) {
  return (
    <div class="snippet">
      <pre class="code" tabIndex={0} aria-label="Code">
        {code}
      </pre>
      <Copy class="button small" label="Copy" text={() => code} />
    </div>
  )
}

/** How to point the code above to this service. Empty if the service has the default address. */
export function StartHint() {
  const { data } = useQuery<ServiceStatus>('status')
  if (data === undefined || data.is_default_url) return null
  return (
    <>
      <p>Start the application with the address of this service:</p>
      <Snippet code={startLine(data)} />
    </>
  )
}
