/**
 * Manages the service's token: reads it from the URL that `pino-ingest dev` printed, and stores it for this origin once the service
 * has accepted it.
 */
import { isToken } from '../../protocol/token-rule.js'
import { Observable } from './observable.js'

const STORAGE_KEY = 'pino-ingest.token'

interface Access {
  readonly token: string | null
  readonly isRefused: boolean
}

export const access = new Observable<Access>({ token: null, isRefused: false })

export function setToken(token: string | null): void {
  access.set({ token, isRefused: false })
}

/** Reads the token from the address, and removes it from the address bar, because addresses are copied, shown and stored. */
export function takeToken(): void {
  const { hash, pathname, search } = location
  if (/[#?&]token=/.test(hash)) history.replaceState(history.state, '', `${pathname}${search}`)
  setToken(findTokenIn(hash) ?? access.value.token ?? readStored())
}

/** Watches for tokens in addresses opened in this tab, and for tokens stored by other tabs. */
export function watchToken(): void {
  addEventListener('hashchange', takeToken)
  addEventListener('storage', ({ key, newValue }) => {
    if (key === STORAGE_KEY && isToken(newValue)) setToken(newValue)
  })
}

/** Stores a token that the service has accepted. Others are not stored, because any web page can open this page with another token. */
export function acceptToken(token: string | null): void {
  try {
    if (token !== null && token !== readStored()) localStorage.setItem(STORAGE_KEY, token)
  } catch {
    // Storage may be disabled or full; the token is then lost when the tab closes.
  }
}

/** Marks a token as refused. Ignored if another token was set meanwhile. */
export function refuseToken(token: string | null): void {
  if (access.value.token !== token) return
  const stored = readStored()
  // Reloads with the stored token: requests and the stream have failed with this one.
  if (stored !== null && stored !== token) location.reload()
  else access.set({ token, isRefused: true })
}

function readStored(): string | null {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    return isToken(stored) ? stored : null
  } catch {
    return null
  }
}

function findTokenIn(text: string): string | null {
  const found = /[#?&]token=([^\s&#]*)/.exec(text)?.[1]
  return found !== undefined && isToken(found) ? found : null
}

export function parsePastedToken(text: string): string | null {
  const trimmed = text.trim()
  return findTokenIn(trimmed) ?? (isToken(trimmed) ? trimmed : null)
}
