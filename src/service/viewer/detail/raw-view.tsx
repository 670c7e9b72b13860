/** The entry as JSON. */
import { useMemo } from 'preact/hooks'
import type { LogEntry } from '../../../protocol/log-entry.js'
import { toPlainJson } from '../plain-text.js'
import { formatBytes } from '../view-format.js'
import { Copy } from './copy.js'

/** Maximum number of characters to show: the layout of a longer element takes too long. */
const MAX_SHOWN_CHARS = 200_000

export function Raw({ entry, id }: { readonly entry: LogEntry; readonly id: string }) {
  const text = useMemo(() => JSON.stringify(entry, null, 2), [entry])
  return (
    <div class="raw">
      <div class="raw-tools">
        <Copy label="Copy" name="Copy the raw JSON" text={() => text} />
        <button type="button" class="quiet" onClick={() => download(text, `${id}.json`)}>
          Download
        </button>
        <span class="hint">{formatBytes(new Blob([text]).size)}</span>
      </div>
      {text.length > MAX_SHOWN_CHARS ? (
        <p class="hint">Too long to show. Copy or download it.</p>
      ) : (
        <pre class="mono" tabIndex={0} aria-label="Raw JSON">
          {toPlainJson(text)}
        </pre>
      )}
    </div>
  )
}

function download(text: string, name: string) {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download reads the URL after this function returns.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
