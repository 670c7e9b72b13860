/** The prompt for a token. Replaces the page while there is no accepted token. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { parsePastedToken, setToken } from '../access-token.js'

export function TokenPrompt({ isRefused }: { isRefused: boolean }) {
  const [isWrong, setWrong] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const text = new FormData(event.currentTarget as HTMLFormElement).get('token')
    const token = parsePastedToken(String(text))
    setWrong(token === null)
    if (token !== null) setToken(token)
  }
  return (
    <main class="gate">
      <form class="card dialog-body" onSubmit={submit}>
        <h1>{isRefused ? 'The service refused this token' : 'This page needs the service’s token'}</h1>
        <p class="muted">
          Logs may contain private data, so the local service requires its token. Open the address that{' '}
          <code>pino-ingest dev</code> printed when it started: it ends with <code>#token=…</code>
        </p>
        {isRefused && (
          <p class="muted">A restarted service may have another token: use the last address that it printed.</p>
        )}
        <label for="token">Or paste the address, or the token alone</label>
        <div class="toolbar">
          <input
            ref={field}
            id="token"
            name="token"
            class="field"
            type="text"
            autocomplete="off"
            spellcheck={false}
            required
            aria-invalid={isWrong}
            aria-describedby={isWrong ? 'token-wrong' : undefined}
          />
          <button type="submit" class="button primary">
            Open
          </button>
        </div>
        {isWrong && (
          <p id="token-wrong" class="bad" role="alert">
            There is no token in this text. A token has letters, digits, - and _ only.
          </p>
        )}
      </form>
    </main>
  )
}
