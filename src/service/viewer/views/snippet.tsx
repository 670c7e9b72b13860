/** Code to be copied into an application or a terminal. */
import { CopyButton } from '../parts.js'

export function Snippet({ code }: { readonly code: string }) {
  return (
    <div class="snippet">
      <pre class="code" tabIndex={0} aria-label="Code">{code}</pre>
      <CopyButton text={code} label="Copy" />
    </div>
  )
}
