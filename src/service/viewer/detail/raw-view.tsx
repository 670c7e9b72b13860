/** The entry as JSON. */
import { useMemo } from 'preact/hooks'
import type { LogEntry } from '../../../protocol/log-entry.js'
import { toPlainJson } from '../plain-text.js'
import { formatBytes } from '../view-format.js'
import { Copy } from './notice.js'

/** Maximum number of characters to show: the layout of a longer element takes too long. */
const MAX_SHOWN_CHARS = 200_000

export function Raw({ entry }: { readonly entry: LogEntry }) {
  const text = useMemo(() => JSON.stringify(entry, null, 2), [entry])
  return (
    <div class="raw">
      <div class="toolbar">
        <Copy label="Copy" name="Copy the raw JSON" text={() => text} />
        <span class="hint">{formatBytes(new Blob([text]).size)}</span>
      </div>
      {text.length > MAX_SHOWN_CHARS ? (
        <p class="hint">Too long to show. Copy it.</p>
      ) : (
        <pre class="code" tabIndex={0} aria-label="Raw JSON">
          {toPlainJson(text)}
        </pre>
      )}
    </div>
  )
}
