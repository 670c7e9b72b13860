/** A field that finds the monitor of a token. It is cleared once the token's hash is computed. */
import { useRef } from 'preact/hooks'
import { computeMonitorId } from './monitor-id.js'

interface MonitorFinderProps {
  /** Monitor id of the last token. */
  readonly found: string | null
  readonly isListed: boolean
  readonly onFind: (id: string) => void
}

export function MonitorFinder({ found, isListed, onFind }: MonitorFinderProps) {
  const field = useRef<HTMLInputElement>(null)
  const find = (text: string): void => {
    const token = text.trim()
    if (field.current !== null) field.current.value = ''
    if (token !== '') void computeMonitorId(token).then(onFind)
  }
  const onPaste = (event: ClipboardEvent): void => {
    event.preventDefault()
    find(event.clipboardData?.getData('text') ?? '')
  }
  const onSubmit = (event: Event): void => {
    event.preventDefault()
    find(field.current?.value ?? '')
  }
  return (
    <form class="monitor-finder" onSubmit={onSubmit}>
      <label for="monitor-token">Paste a token to find its monitor</label>
      <div class="finder-field">
        <input
          id="monitor-token"
          ref={field}
          class="field"
          type="password"
          autocomplete="off"
          spellcheck={false}
          onPaste={onPaste}
          aria-describedby="monitor-token-hint"
        />
        <button type="submit" class="button">
          Find
        </button>
      </div>
      <p id="monitor-token-hint" class="muted">
        The token is neither sent nor stored.
      </p>
      <p role="status">
        {found !== null &&
          (isListed ? (
            <>
              It is <code>{found}</code>, which is marked above.
            </>
          ) : (
            <>
              Its monitor is <code>{found}</code>, of which no ping is stored.
            </>
          ))}
      </p>
    </form>
  )
}
