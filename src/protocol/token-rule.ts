/** The form of the token of a local service. It imports nothing, so that the page can load it too. */

export const TOKEN_RULE = '16 to 512 characters of A-Z, a-z, 0-9, - and _'

export function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\w-]{16,512}$/.test(value)
}
