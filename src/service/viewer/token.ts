/** The service's token: taken from the address that `pino-ingest dev` printed, and kept for this origin. */
import { Observable } from './observable.js'
import { tokenIn } from './token-in.js'

export interface Access {
  readonly token: string | null
  /** Whether the service has refused this token. */
  readonly isRefused: boolean
}

const STORAGE_KEY = 'pino-ingest.token'

export const access = new Observable<Access>({ token: null, isRefused: false })

/** The token leaves the address bar at once: addresses are copied, shown and remembered. */
export function takeToken(): void {
  const given = tokenIn(location.hash)
  if (given !== null) {
    history.replaceState(history.state, '', `${location.pathname}${location.search}`)
    setToken(given)
  } else if (access.value.token === null) {
    access.set({ token: remembered(), isRefused: false })
  }
}

/** Also where an address with a token is opened in a tab that shows the page, and where another tab got one. */
export function watchToken(): void {
  addEventListener('hashchange', takeToken)
  addEventListener('storage', ({ key, newValue }) => {
    if (key === STORAGE_KEY && newValue !== null) access.set({ token: newValue, isRefused: false })
  })
}

export function setToken(token: string): void {
  access.set({ token, isRefused: false })
  try {
    localStorage.setItem(STORAGE_KEY, token)
  } catch {
    // Storage may be forbidden or full: the token then lasts as long as the tab.
  }
}

/** Only the token that was sent: another may have been set since. */
export function refuseToken(token: string | null): void {
  if (access.value.token === token) access.set({ token, isRefused: true })
}

function remembered(): string | null {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    return null
  }
}
