/**
 * The service's token: taken from the address that `pino-ingest dev` printed, and kept for this origin once the service has
 * taken it.
 */
import { Observable } from './observable.js'
import { isToken } from '../../protocol/token-rule.js'
import {
  afterGiven,
  afterRefused,
  afterTaken,
  afterTold,
  hasOther,
  isOnTrial,
  NO_ACCESS,
  tokenIn,
} from './access-state.js'
import type { Access } from './access-state.js'

const STORAGE_KEY = 'pino-ingest.token'
/** While the service cannot be reached. */
const RETRY_MS = 2000

export const access = new Observable<Access>(NO_ACCESS)

/** The token leaves the address bar at once: addresses are copied, shown and remembered. */
export function takeToken(): void {
  const { hash, pathname, search } = location
  const given = tokenIn(hash)
  if (/[#?&]token=/.test(hash)) history.replaceState(history.state, '', `${pathname}${search}`)
  const known = access.value.token === null ? remembered() : null
  if (known !== null) access.set(afterTold(access.value, known))
  if (given !== null) setToken(given)
}

/** Also where an address with a token is opened in a tab that shows the page, and where another tab got one. */
export function watchToken(): void {
  addEventListener('hashchange', takeToken)
  addEventListener('storage', ({ key, newValue }) => {
    if (key === STORAGE_KEY && newValue !== null && isToken(newValue)) access.set(afterTold(access.value, newValue))
  })
}

export function setToken(token: string): void {
  access.set(afterGiven(access.value, token))
  if (isOnTrial(access.value, token)) void tryToken(token)
}

/** Only the token that was sent: another may have been set since. */
export function refuseToken(token: string | null): void {
  // Anew, with the stored one: all that the page asked for with this one has ended, its stream too.
  if (hasOther(access.value, token, remembered())) location.reload()
  else access.set(afterRefused(access.value, token))
}

/** Asks until the service has judged it. */
async function tryToken(token: string): Promise<void> {
  while (isOnTrial(access.value, token)) {
    const status = await statusWith(token)
    if (status === 401) return refuseToken(token)
    if (status === 200) keep(token)
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** Undefined where it cannot be reached: the page says so itself. */
async function statusWith(token: string): Promise<number | undefined> {
  try {
    return (await fetch('/local/status', { headers: { authorization: `Bearer ${token}` }, cache: 'no-store' })).status
  } catch {
    return undefined
  }
}

function keep(token: string): void {
  const before = access.value
  access.set(afterTaken(before, token))
  if (access.value === before) return
  try {
    localStorage.setItem(STORAGE_KEY, token)
  } catch {
    // Storage may be forbidden or full: the token then lasts as long as the tab.
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
