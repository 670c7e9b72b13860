/** Code with a button to copy it. */
import type { ServiceStatus } from '../../query/api-types.js'
import { Copy } from '../detail/copy.js'
import { formatStartLine } from '../shell/connect-lines.js'
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

/** Shows how to set this service's URL for the code above. Empty if the service has the default address. */
export function StartHint() {
  const { data } = useQuery<ServiceStatus>('status')
  if (data === undefined || data.is_default_url) return null
  return (
    <>
      <p>Start the application with the address of this service:</p>
      <Snippet code={formatStartLine(data)} />
    </>
  )
}
