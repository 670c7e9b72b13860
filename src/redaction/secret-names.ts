/**
 * [worker] Names whose values are secret: headers that are never sent, and the keys of `scrub.keys`.
 *
 * Comparison ignores case, hyphens, underscores and dots: `X-Api-Key`, `x_api_key` and `xApiKey` are one name. The list
 * is compiled from the filters of Sentry, OpenTelemetry, Datadog, axios and HAR sanitizers, and from the providers'
 * documentation.
 */

import { TextMemo } from '../shared/text-memo.js'

/** Spaces beyond ASCII, which come from documents and chats. For a class of a regular expression. */
export const WIDE_SPACES = String.raw`\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff`

/** Replaces the value of a header in a text or a list. */
export const REMOVED = '[removed]'
/** Replaces other secrets. */
export const REDACTED = '[scrubbed]'
/** Also pino's, of its option `redact`. */
export const MARKERS: ReadonlySet<string> = new Set([REMOVED, REDACTED, '[Redacted]'])

/** Full names of headers with credentials. */
const HEADER_NAMES: ReadonlySet<string> = new Set(
  `
  authorization proxyauthorization cookie cookies signedcookies cookie2 setcookie setcookie2 cookiehash cookiestring
  apikey apitoken apisecret authtoken accesstoken refreshtoken idtoken sessiontoken bearertoken clientsecret csrftoken
  xsrftoken securitytoken privatetoken jobtoken deploytoken xauthkey xaccesskey xsecretkey xfunctionskey xlicensekey
  xinsertkey xrapidapikey xmashapekey xmasterkey ddapplicationkey xzumoauth
`
    .trim()
    .split(/\s+/),
)

/** Endings after a vendor's prefix: `x-goog-api-key`, `cf-access-client-secret`, `ocp-apim-subscription-key`. */
const HEADER_ENDINGS =
  'apikey accesstoken authtoken sessiontoken securitytoken csrftoken xsrftoken clientsecret subscriptionkey jwtassertion'.split(
    ' ',
  )

/** Endings of names that start with `x-`, also as `xVaultToken`: only headers do, so the last word suffices. */
const X_ENDINGS = ['token', 'secret', 'authorization', 'auth', 'cookie']

/** Of longer names, only the end is compared. */
export const MAX_NAME_CHARS = 64

/**
 * Endings of all these names, and of the default keys. For a fast search they are only as long as needed to distinguish
 * them from everyday words. The kernel's scan finds the same (`record/kernel/assembly/scan.ts`).
 */
const NAME_END =
  '(?:ization|cookie(?:_?hash|_?string)?|token|ecret|(?:api|uth|ess|ret|ons|nse|ert|ape|ter|tion|ate)[-_.]*key|ertion|auth|passw(?:or)?d)s?2?'
const AFTER_NAME = String.raw`(?=[\s\u200b\x1b:=,"'${'`'}\\\])])`
const HAS_END = new RegExp(`^[\\w.-]*(?:${NAME_END})$`, 'i')
const X_START = /^(?:[Xx][-_.]|x[A-Z]|X[A-Z][a-z])/
/** Prefix of request headers in CGI, WSGI, Rack and PHP; Apache adds `redirect_` after an internal redirect. */
const SERVER_PREFIX = /^(?:redirect_)*http_/i

/** Basic authentication in the options of axios and Node's `http`: `auth: { username, password }`. */
export const AUTH = /^auth$/i

/** Whether a header of this name is removed. In a dotted name, `http.request.header.cookie`, the last part decides. */
export function isSecretHeader(name: string): boolean {
  const end = name.slice(-MAX_NAME_CHARS)
  if (!HAS_END.test(end)) return false
  return isListed(end) || (end.includes('.') && isListed(end.slice(end.lastIndexOf('.') + 1)))
}

function isListed(name: string): boolean {
  const header = name.replace(SERVER_PREFIX, '')
  const bare = header.toLowerCase().replace(/[-_.]/g, '')
  return (
    HEADER_NAMES.has(bare) ||
    HEADER_ENDINGS.some((ending) => bare.endsWith(ending)) ||
    (X_START.test(header) && X_ENDINGS.some((ending) => bare.endsWith(ending)))
  )
}

/** Names that `scrub.keys` ignores: without these values an entry would be invalid, or have no time or trace. */
const NEVER_SECRET: ReadonlySet<string> = new Set([
  '',
  'level',
  'time',
  'timestamp',
  'traceid',
  'spanid',
  'parentspanid',
])

/** Fields of an entry whose values have other names in a line, such as `remoteAddress`. */
const RENAMED: ReadonlySet<string> = new Set(
  'ip,path,url,useragent,requestid,sessionid,userid,source,service,environment,version,message'.split(','),
)

/**
 * `{ name: 'Cookie', value: … }` is the format of HAR, Postman, Playwright, Envoy and AWS; express-validator uses
 * `path` and `param`.
 */
const NAME_KEY = /(?:name|key|field|header|path|param)$/i
const VALUE_KEY = /(?:values?|content)$/i

/** What a member's key may be. Bits, because a key may be several. */
export const Kind = { header: 1, secretKey: 2, name: 4, value: 8, auth: 16 } as const

export class SecretNames {
  readonly ends: RegExp
  /** Finds the ends of all names, and `Bearer` and `Basic`. */
  readonly candidates: RegExp
  /** Finds names that the kernel's scan does not report. */
  readonly #unscanned: RegExp | undefined
  readonly #key: RegExp
  readonly #kinds = new TextMemo(
    (key) =>
      (isSecretHeader(key) ? Kind.header : 0) |
      (this.isSecretKey(key) ? Kind.secretKey : 0) |
      (NAME_KEY.test(key) ? Kind.name : 0) |
      (VALUE_KEY.test(key) ? Kind.value : 0) |
      (AUTH.test(key) ? Kind.auth : 0),
  )

  constructor(keys: readonly string[]) {
    const secret = keys.filter((key) => !NEVER_SECRET.has(toBare(key)))
    const all = secret.length === 0 ? '(?!)' : secret.map(toPattern).join('|')
    this.#key = new RegExp(`(?:^|[.[])[-_]*(?:${all})\\]?$`, 'i')
    // Any number of hyphens and underscores may be between the words.
    const own = secret.filter((key) => !HAS_END.test(wordsOf(key).join('__'))).map(toPattern)
    const ends = `(?:${[NAME_END, ...own].join('|')})${AFTER_NAME}`
    this.ends = new RegExp(ends, 'gi')
    this.candidates = new RegExp(`(?:bearer|basic)(?=[ \\t${WIDE_SPACES}%+\\\\])|${ends}`, 'gi')
    this.#unscanned = secret.some((key) => RENAMED.has(toBare(key))) ? /^/ : toSearch(own)
  }

  /** Whether there are names that the kernel's scan does not report. */
  get hasUnscanned(): boolean {
    return this.#unscanned !== undefined
  }

  /** Whether a line may have such names. With the default names, it does not decode the line. */
  mayHaveUnscanned(line: { readonly text: string }): boolean {
    return this.#unscanned !== undefined && this.#unscanned.test(line.text)
  }

  /** Whether the name is in `scrub.keys`. In `user.password` and `user[password]` the last part decides. */
  isSecretKey(name: string): boolean {
    return this.#key.test(name.slice(-MAX_NAME_CHARS))
  }

  readKinds(key: string): number {
    return this.#kinds.get(key)
  }
}

/** A name without what does not count: case, hyphens and underscores. */
export function toBare(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '')
}

function wordsOf(key: string): string[] {
  return key.split(/[-_]+|(?<=[a-z\d])(?=[A-Z])/).filter((word) => word !== '')
}

/** Its words, with any hyphens and underscores between them. */
function toPattern(key: string): string {
  return wordsOf(key)
    .map((word) => word.replace(/\W/g, String.raw`\$&`))
    .join('[-_]*')
}

function toSearch(patterns: readonly string[]): RegExp | undefined {
  return patterns.length === 0 ? undefined : new RegExp(`(?:${patterns.join('|')})${AFTER_NAME}`, 'i')
}
