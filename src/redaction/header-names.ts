/**
 * [worker] Names of headers that are never sent.
 *
 * Comparison ignores case, hyphens, underscores and dots: `X-Api-Key`, `x_api_key` and `xApiKey` are one name. The list
 * is compiled from the filters of Sentry, OpenTelemetry, Datadog, axios and HAR sanitizers, and from the providers'
 * documentation.
 */

/** Replaces a value in a text or a list. */
export const REMOVED = '[removed]'

/** Full names of headers with credentials. */
const NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'cookies',
  'signedcookies',
  'cookie2',
  'setcookie',
  'setcookie2',
  'cookiehash',
  'cookiestring',
  'apikey',
  'apitoken',
  'apisecret',
  'authtoken',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'sessiontoken',
  'bearertoken',
  'clientsecret',
  'csrftoken',
  'xsrftoken',
  'securitytoken',
  'privatetoken',
  'jobtoken',
  'deploytoken',
  'xauthkey',
  'xaccesskey',
  'xsecretkey',
  'xfunctionskey',
  'xlicensekey',
  'xinsertkey',
  'xrapidapikey',
  'xmashapekey',
  'xmasterkey',
  'ddapplicationkey',
  'xzumoauth',
])

/** Endings after a vendor's prefix: `x-goog-api-key`, `cf-access-client-secret`, `ocp-apim-subscription-key`. */
const ENDINGS = [
  'apikey',
  'accesstoken',
  'authtoken',
  'sessiontoken',
  'securitytoken',
  'csrftoken',
  'xsrftoken',
  'clientsecret',
  'subscriptionkey',
  'jwtassertion',
]

/** Endings of names that start with `x-`, also as `xVaultToken`: only headers do, so the last word suffices. */
const X_ENDINGS = ['token', 'secret', 'authorization', 'auth', 'cookie']

/** Of longer names, only the end is compared. */
export const MAX_NAME_CHARS = 64

/**
 * Endings of all these names. For a fast search they are only as long as needed to distinguish them from everyday
 * words.
 */
export const NAME_END = '(?:ization|cookie(?:_?hash|_?string)?|token|ecret|[-_.ihstenr]key|ertion|auth)s?2?'
const X_START = /^(?:[Xx][-_.]|x[A-Z]|X[A-Z][a-z])/
const LIKELY = new RegExp(`^[\\w.-]*${NAME_END}$`, 'i')
/** Prefix of request headers in CGI, WSGI, Rack and PHP; Apache adds `redirect_` after an internal redirect. */
const SERVER_PREFIX = /^(?:redirect_)*http_/i

/** Basic authentication in the options of axios and Node's `http`: `auth: { username, password }`. */
export const AUTH = /^auth$/i

/** Whether a header of this name is removed. In a dotted name, `http.request.header.cookie`, the last part decides. */
export function isSecretHeader(name: string): boolean {
  const end = name.slice(-MAX_NAME_CHARS)
  if (!LIKELY.test(end)) return false
  return isListed(end) || (end.includes('.') && isListed(end.slice(end.lastIndexOf('.') + 1)))
}

function isListed(name: string): boolean {
  const header = name.replace(SERVER_PREFIX, '')
  const bare = header.toLowerCase().replace(/[-_.]/g, '')
  return (
    NAMES.has(bare) ||
    ENDINGS.some((ending) => bare.endsWith(ending)) ||
    (X_START.test(header) && X_ENDINGS.some((ending) => bare.endsWith(ending)))
  )
}
