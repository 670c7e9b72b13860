/** The prompt for a token. Replaces the page while there is no accepted token. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { isStorageAllowed, setToken } from '../access-token.js'
import { parsePastedToken } from '../access-state.js'

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
      <form class="card" onSubmit={submit}>
        <h1>{isRefused ? 'The service refused this token' : 'This page needs the service’s token'}</h1>
        <p>
          Logs may contain private data, so the local service requires its token. Open the address that{' '}
          <code>pino-ingest dev</code> printed when it started: it ends with <code>#token=…</code>
        </p>
        {isRefused && <p>A restarted service may have another token: use the last address that it printed.</p>}
        {!isStorageAllowed() && (
          <p>This browser stores nothing for this address, so the page asks again in each tab.</p>
        )}
        <label for="token">Or paste the address, or the token alone</label>
        <div class="gate-field">
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
          <p id="token-wrong" class="gate-wrong" role="alert">
            There is no token in this text. A token has letters, digits, - and _ only.
          </p>
        )}
      </form>
    </main>
  )
}
