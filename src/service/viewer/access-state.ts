/** Where a token is found, and what becomes of one that is given (pure). */
import { isToken } from '../../protocol/token-rule.js'

export interface Access {
  /** The one that is sent. */
  readonly token: string | null
  /** Whether the service has refused it. */
  readonly isRefused: boolean
  /** The one that the service took last, here or in another tab: it outlives the tab. Any web page can open an address with some other. */
  readonly accepted: string | null
}

export const NO_ACCESS: Access = { token: null, isRefused: false, accepted: null }

/** In a fragment, or in what was pasted: the whole address or the token alone. Null where what stands there is none. */
export function tokenIn(text: string): string | null {
  const found = /[#?&]token=([^\s&#]*)/.exec(text)?.[1]
  return found !== undefined && isToken(found) ? found : null
}

export function pastedToken(text: string): string | null {
  const trimmed = text.trim()
  return tokenIn(trimmed) ?? (isToken(trimmed) ? trimmed : null)
}

/** By an address or by hand: it is tried, and does not take the place of the accepted one yet. */
export function afterGiven({ accepted }: Access, token: string): Access {
  return { token, isRefused: false, accepted }
}

/** Here and in the next ones: an answer to another token than the one that is sent now says nothing about it. */
export function afterTaken(access: Access, token: string): Access {
  return isOnTrial(access, token) ? { token, isRefused: false, accepted: token } : access
}

export function afterRefused(access: Access, token: string | null): Access {
  return access.token === token ? { ...access, isRefused: true } : access
}

/** Whether there is a stored one to go back to when this one is refused. */
export function hasOther(access: Access, token: string | null, stored: string | null): boolean {
  return access.token === token && stored !== null && stored !== token
}

/** Another tab stored one, which the service took there. One that is on trial here stays until it is judged. */
export function afterTold(access: Access, token: string): Access {
  return isOnTrial(access, access.token) ? { ...access, accepted: token } : { token, isRefused: false, accepted: token }
}

/** Given, and neither taken nor refused yet. */
export function isOnTrial({ token, isRefused, accepted }: Access, of: string | null): boolean {
  return token !== null && token === of && !isRefused && token !== accepted
}
