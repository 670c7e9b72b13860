/**
 * Manages the service's token: reads it from the URL that `pino-ingest dev` printed, and stores it for this origin once the service
 * has accepted it.
 */
import { Observable } from './observable.js'
import { isToken } from '../../protocol/token-rule.js'
import {
  markEntered,
  markRefused,
  markAccepted,
  markReceived,
  hasOtherToken,
  isOnTrial,
  NO_ACCESS,
  findTokenIn,
} from './access-state.js'
import type { Access } from './access-state.js'

const STORAGE_KEY = 'pino-ingest.token'
/** Interval of retries while the service is unreachable. */
const RETRY_MS = 2000

export const access = new Observable<Access>(NO_ACCESS)

/** Reads the token from the address, and removes it from the address bar, because addresses are copied, shown and stored. */
export function takeToken(): void {
  const { hash, pathname, search } = location
  const given = findTokenIn(hash)
  if (/[#?&]token=/.test(hash)) history.replaceState(history.state, '', `${pathname}${search}`)
  const known = access.value.token === null ? remembered() : null
  if (known !== null) access.set(markReceived(access.value, known))
  if (given !== null) setToken(given)
}

/** Watches for tokens in addresses opened in this tab, and for tokens stored by other tabs. */
export function watchToken(): void {
  addEventListener('hashchange', takeToken)
  addEventListener('storage', ({ key, newValue }) => {
    if (key === STORAGE_KEY && newValue !== null && isToken(newValue)) access.set(markReceived(access.value, newValue))
  })
}

export function setToken(token: string): void {
  access.set(markEntered(access.value, token))
  if (isOnTrial(access.value, token)) void tryToken(token)
}

/** Marks a token as refused. Ignored if another token was set meanwhile. */
export function refuseToken(token: string | null): void {
  // Reloads with the stored token: requests and the stream have failed with this one.
  if (hasOtherToken(access.value, token, remembered())) location.reload()
  else access.set(markRefused(access.value, token))
}

/** Retries until the service has accepted or refused the token. */
async function tryToken(token: string): Promise<void> {
  while (isOnTrial(access.value, token)) {
    const status = await statusWith(token)
    if (status === 401) return refuseToken(token)
    if (status === 200) store(token)
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** @returns undefined if the service is unreachable */
async function statusWith(token: string): Promise<number | undefined> {
  try {
    return (await fetch('/local/status', { headers: { authorization: `Bearer ${token}` }, cache: 'no-store' })).status
  } catch {
    return undefined
  }
}

function store(token: string): void {
  const before = access.value
  access.set(markAccepted(before, token))
  if (access.value === before) return
  try {
    localStorage.setItem(STORAGE_KEY, token)
  } catch {
    // Storage may be disabled or full; the token is then lost when the tab closes.
  }
}

function remembered(): string | null {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    return stored !== null && isToken(stored) ? stored : null
  } catch {
    return null
  }
}

/** Whether the browser stores the token beyond this tab. */
export function isStorageAllowed(): boolean {
  const probe = `${STORAGE_KEY}.probe`
  try {
    localStorage.setItem(probe, '')
    localStorage.removeItem(probe)
    return true
  } catch {
    return false
  }
}
