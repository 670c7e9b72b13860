/** [worker] Credentials with their scheme, `Bearer …` and `Basic …`, anywhere in a text. */
import { REMOVED, WIDE_SPACES } from './secret-names.js'

/**
 * RFC 9110, section 11.4, and other common forms of tokens. The characters `+` and `/` of base64 may be escaped in
 * JSON. In a URL the space is `%20` or `+`.
 */
const SPACE = String.raw`(?:\\{0,64}[ \t${WIDE_SPACES}]|\\{1,64}t|%20|\+)`
const SOURCE = String.raw`(bearer|basic)(${SPACE}{1,64})(?!(?:bearer|basic)${SPACE}|%20|\+)((?:[^\0- ${WIDE_SPACES}\x7f"'${'`'}<>,;()[\]{}\\&]|\\{1,64}(?:\/|u00(?:2b|2f|3d)))+)`
const CREDENTIAL = new RegExp(SOURCE, 'gi')
const CREDENTIAL_AT = new RegExp(SOURCE, 'iy')
/** Words that follow the scheme name in prose. */
const BEARER_WORD =
  /^(?:tokens?|auth|authentication|authorization|schemes?|errors?|headers?|credentials?|and|or|is|was|are|not|of|for|from|in|with|has|must|should|type|format|keys?|required|missing|invalid|expired|malformed|mismatch|rejected|method|strategy|middleware)[.:!?]*$/i
/** Parameters of `WWW-Authenticate`. */
const PARAMETER = /^(?:realm|scope|error(?:_description|_uri)?|charset|authorization_uri|resource_metadata)=/i
const PLAIN_WORDS = /^(?:[A-Za-z]?[a-z]*|[A-Z]+)(?:[-_/.](?:[A-Za-z]?[a-z]*|[A-Z]+))*[.:!?]*$/
/** Shorter text is prose: `Basic HTML5`, `Basic JavaScript`. */
const MIN_OPAQUE_CHARS = 12

export function removeCredentials(text: string): string {
  return text.replace(CREDENTIAL, (match, scheme: string, space: string, token: string) =>
    isProse(scheme, token) ? match : scheme + space + REMOVED,
  )
}

export function isCredentialAt(text: string, at: number): boolean {
  CREDENTIAL_AT.lastIndex = at
  const [, scheme = '', , token = ''] = CREDENTIAL_AT.exec(text) ?? []
  return scheme !== '' && !isProse(scheme, token)
}

function isProse(scheme: string, token: string): boolean {
  if (PARAMETER.test(token)) return true
  if (scheme.toLowerCase() === 'bearer') return BEARER_WORD.test(token)
  // RFC 7617: the encoded text is `user:password`.
  const plain = token.replaceAll('\\', '')
  return (plain.length < MIN_OPAQUE_CHARS || PLAIN_WORDS.test(plain)) && !Buffer.from(plain, 'base64').includes(':')
}
