/**
 * [worker] Which headers are never sent, by name, and where in JSON text one may stand.
 *
 * Names are compared without case, hyphens and underscores: `X-Api-Key`, `x_api_key` and `xApiKey` are one name. The list is
 * what the field's own filters have in common (Sentry, OpenTelemetry, Datadog, axios, HAR sanitizers), and the providers' pages.
 */

/** Credentials by their whole name. */
const NAMES: ReadonlySet<string> = new Set([
  'authorization', 'proxyauthorization', 'cookie', 'cookies', 'signedcookies', 'cookie2', 'setcookie', 'setcookie2',
  'apikey', 'apitoken', 'apisecret', 'authtoken', 'accesstoken', 'refreshtoken', 'idtoken', 'sessiontoken', 'bearertoken', 'clientsecret',
  'csrftoken', 'xsrftoken', 'securitytoken', 'privatetoken', 'jobtoken', 'deploytoken',
  'xauthkey', 'xaccesskey', 'xsecretkey', 'xfunctionskey', 'xlicensekey', 'xinsertkey', 'xrapidapikey', 'xmashapekey', 'xmasterkey',
  'ddapplicationkey', 'xzumoauth',
])

/** Every vendor puts its own word before these: `x-goog-api-key`, `cf-access-client-secret`, `ocp-apim-subscription-key`. */
const ENDINGS = [
  'apikey', 'accesstoken', 'authtoken', 'sessiontoken', 'securitytoken', 'csrftoken', 'xsrftoken', 'clientsecret', 'subscriptionkey',
  'jwtassertion',
]

/** Only a header is called `x-…`: there the last word says enough. */
const X_ENDINGS = ['token', 'secret', 'authorization', 'auth', 'cookie']

/** No name of a header is longer. */
export const MAX_NAME_CHARS = 64

/** How each of those names ends; the fewest letters that tell them from everyday words make the fastest search. */
const TAIL = '(?:ization|cookie|token|ecret|[-_ihstenr]key|ertion|.auth)s?2?'
const LIKELY = new RegExp(`${TAIL}$`, 'i')

/** Credentials of HTTP's basic scheme, as axios and Node's own `http` take them: `auth: { username, password }`. */
export const AUTH = /^auth$/i

export function isRemovedHeader(name: string): boolean {
  if (name.length > MAX_NAME_CHARS || !LIKELY.test(name)) return false
  const bare = name.toLowerCase().replace(/[-_]/g, '')
  return NAMES.has(bare) || ENDINGS.some((ending) => bare.endsWith(ending))
    || (/^x[-_]/i.test(name) && X_ENDINGS.some((ending) => bare.endsWith(ending)))
}

/** Where in a text a name may end. */
export function namePlaces(): RegExp {
  return new RegExp(`${TAIL}(?=[:=,"'\\\\])`, 'gi')
}

/** In JSON text as it stands: a name before a quote, a colon, an equals sign, or a backslash where JSON is inside of JSON. */
const PLACE = new RegExp(`${TAIL}[:="'\\\\]`, 'gi')

/** A letter that is written as an escape may be one of a name. */
const ESCAPED_LETTER = /\\u00[2-7]/g

/**
 * Position of the next place at or after `from` of a line, or of other JSON text as it stands, that may be concerned, or
 * Infinity: never too late, sometimes in vain.
 */
export function mayHoldHeaders(json: string, from: number): number {
  PLACE.lastIndex = from
  const place = PLACE.exec(json)?.index ?? Infinity
  const escape = json.indexOf('\\u00', from)
  if (escape === -1 || escape > place) return place
  ESCAPED_LETTER.lastIndex = escape
  return Math.min(place, ESCAPED_LETTER.exec(json)?.index ?? Infinity)
}
