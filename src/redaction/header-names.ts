/**
 * [worker] Names of headers that are never sent.
 *
 * Names are compared without case, hyphens, underscores and dots: `X-Api-Key`, `x_api_key` and `xApiKey` are one name. The list is
 * from the filters of Sentry, OpenTelemetry, Datadog, axios and HAR sanitizers, and from the providers' documentation.
 */

/** Replaces a value in a text or a list. */
export const REMOVED = '[removed]'

/** Credentials by their whole name. */
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

/** Endings after a vendor's own prefix: `x-goog-api-key`, `cf-access-client-secret`, `ocp-apim-subscription-key`. */
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

/** Only headers begin with `x-`: for them the last word decides. */
const X_ENDINGS = ['token', 'secret', 'authorization', 'auth', 'cookie']

/** Only the end of a longer name is compared. */
export const MAX_NAME_CHARS = 64

/** The endings of those names, as short as distinguishes them from everyday words: that makes the search fast. */
export const NAME_END = '(?:ization|cookie(?:_?hash|_?string)?|token|ecret|[-_.ihstenr]key|ertion|auth)s?2?'
const LIKELY = new RegExp(`^[\\w.-]*${NAME_END}$`, 'i')
/** CGI, WSGI, Rack and PHP name a request's headers so; Apache adds the first part after an internal redirect. */
const SERVER_PREFIX = /^(?:redirect_)*http_/i

/** Credentials of HTTP's basic scheme, as axios and Node's own `http` take them: `auth: { username, password }`. */
export const AUTH = /^auth$/i

/** Whether a header of this name is removed; the last part of a dotted name, `http.request.header.cookie`, suffices. */
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
    (/^x[-_.]/i.test(header) && X_ENDINGS.some((ending) => bare.endsWith(ending)))
  )
}
