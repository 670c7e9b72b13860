/** The form of the token of a local service. This module imports nothing, so the viewer page can load it, too. */

export const TOKEN_RULE = '16 to 512 characters of A-Z, a-z, 0-9, - and _'

export function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\w-]{16,512}$/.test(value)
}
