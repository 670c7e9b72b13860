/** Parses tokens, and the state of a token between input, acceptance and refusal (pure). */
import { isToken } from '../../protocol/token-rule.js'

export interface Access {
  /** The token that is sent. */
  readonly token: string | null
  /** Whether the service has refused it. */
  readonly isRefused: boolean
  /** The last accepted token, also of other tabs; it is stored. Any web page can open an address with another token. */
  readonly accepted: string | null
}

export const NO_ACCESS: Access = { token: null, isRefused: false, accepted: null }

/** From a fragment, or from pasted text: the whole address or the token alone. Null if there is none. */
export function tokenIn(text: string): string | null {
  const found = /[#?&]token=([^\s&#]*)/.exec(text)?.[1]
  return found !== undefined && isToken(found) ? found : null
}

export function pastedToken(text: string): string | null {
  const trimmed = text.trim()
  return tokenIn(trimmed) ?? (isToken(trimmed) ? trimmed : null)
}

/** A new token, from an address or from input. It is tried, and does not replace the accepted one yet. */
export function afterGiven({ accepted }: Access, token: string): Access {
  return { token, isRefused: false, accepted }
}

/** As in the functions below, an answer to another token than the current one is ignored. */
export function afterTaken(access: Access, token: string): Access {
  return isOnTrial(access, token) ? { token, isRefused: false, accepted: token } : access
}

export function afterRefused(access: Access, token: string | null): Access {
  return access.token === token ? { ...access, isRefused: true } : access
}

/** Whether there is a stored token to use when this one is refused. */
export function hasOther(access: Access, token: string | null, stored: string | null): boolean {
  return access.token === token && stored !== null && stored !== token
}

/** Another tab stored an accepted token. A token that is being tried here stays until it is accepted or refused. */
export function withReceivedToken(access: Access, token: string): Access {
  return isOnTrial(access, access.token) ? { ...access, accepted: token } : { token, isRefused: false, accepted: token }
}

/** Neither accepted nor refused yet. */
export function isOnTrial({ token, isRefused, accepted }: Access, of: string | null): boolean {
  return token !== null && token === of && !isRefused && token !== accepted
}
