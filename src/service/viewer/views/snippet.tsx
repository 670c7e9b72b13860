/** Code to be copied into an application or a terminal. */
import type { ServiceStatus } from '../../query/api-types.js'
import { CopyButton } from '../components.js'
import { startLine } from '../shell/connect-lines.js'
import { useQuery } from '../use-query.js'

export function Snippet({ code }: { readonly code: string }) {
  return (
    <div class="snippet">
      <pre class="code" tabIndex={0} aria-label="Code">
        {code}
      </pre>
      <CopyButton text={code} label="Copy" />
    </div>
  )
}

/** How what the code above sends comes here: nothing is to be said where that is the default. */
export function StartHint() {
  const { data } = useQuery<ServiceStatus>('status')
  if (data === undefined || data.is_default_url) return null
  return (
    <>
      <p>So that it comes here, start it with this service's address:</p>
      <Snippet code={startLine(data)} />
    </>
  )
}
