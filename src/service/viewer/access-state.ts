/** Parses tokens, and tracks whether the service has accepted or refused the current one (pure). */
import { isToken } from '../../protocol/token-rule.js'

export interface Access {
  /** The token to send. */
  readonly token: string | null
  /** Whether the service has refused it. */
  readonly isRefused: boolean
  /** The last accepted token, including those of other tabs; stored. Kept separately, because any web page can open this page with another token. */
  readonly accepted: string | null
}

export const NO_ACCESS: Access = { token: null, isRefused: false, accepted: null }

/** Finds the token in a fragment or an address. Null if there is none. */
export function findTokenIn(text: string): string | null {
  const found = /[#?&]token=([^\s&#]*)/.exec(text)?.[1]
  return found !== undefined && isToken(found) ? found : null
}

export function parsePastedToken(text: string): string | null {
  const trimmed = text.trim()
  return findTokenIn(trimmed) ?? (isToken(trimmed) ? trimmed : null)
}

/** Sets a new token from an address or input. It replaces the accepted one only once the service accepts it. */
export function markEntered({ accepted }: Access, token: string): Access {
  return { token, isRefused: false, accepted }
}

/** Like the functions below, ignores replies to a token other than the current one. */
export function markAccepted(access: Access, token: string): Access {
  return isOnTrial(access, token) ? { token, isRefused: false, accepted: token } : access
}

export function markRefused(access: Access, token: string | null): Access {
  return access.token === token ? { ...access, isRefused: true } : access
}

/** Whether another token is stored that can replace this refused one. */
export function hasOtherToken(access: Access, token: string | null, stored: string | null): boolean {
  return access.token === token && stored !== null && stored !== token
}

/** Handles a token that another tab stored. A token that is being tried here stays until it is accepted or refused. */
export function markReceived(access: Access, token: string): Access {
  return isOnTrial(access, access.token) ? { ...access, accepted: token } : { token, isRefused: false, accepted: token }
}

/** Whether the service has neither accepted nor refused the token yet. */
export function isOnTrial({ token, isRefused, accepted }: Access, of: string | null): boolean {
  return token !== null && token === of && !isRefused && token !== accepted
}
