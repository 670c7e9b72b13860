/** Validates the base URL, and finds the proxy for it. */
import { BASE_PATH } from '../protocol/limits.js'
import { describeHidden, formatValue } from './format-value.js'

type Env = Readonly<Record<string, string | undefined>>

/** A host without its scheme, the most common mistake, or a path; no key has this form. */
const BARE_HOST = /^(?=.{1,60}$)(?:(?:[a-z\d-]+\.)+[a-z]{2,}|\d+(?:\.\d+){3}|localhost)?(?::\d+)?(?:\/[a-z\d/]*)?$/

/**
 * @param name the option or the variable, for errors
 * @returns the URL without a trailing slash. Errors are added to `problems`; they show only scheme, host and path of a URL
 */
export function checkUrl(given: string, allowInsecure: boolean, problems: string[], name = 'url'): string {
  const text = given.trim()
  if (!URL.canParse(text)) {
    // Text without `://` that does not look like a host may be the key, given by mistake. Otherwise a password may precede an @, and a
    // key follow a ?.
    const got =
      text.includes('://') || BARE_HOST.test(text)
        ? formatValue(text.replace(/:\/\/.*@/s, '://…@').replace(/[?#].*$/s, '…'))
        : describeHidden(text)
    problems.push(`${name} must be an absolute URL such as https://logs.example.com${BASE_PATH}, got ${got}`)
    return given
  }
  const url = new URL(text)
  const place = formatValue(`${url.protocol}//${url.host}${url.pathname}`).slice(1, -1)
  const wrong = (rule: string): void => void problems.push(`${name} must ${rule}, got ${place}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    // `user:password@host` is a URL whose scheme is the user.
    problems.push(
      `${name} must begin with https:// or http://, got ${formatValue(BARE_HOST.test(text) ? text : url.protocol)}`,
    )
    return given
  }
  if (url.protocol === 'http:' && !allowInsecure && !isLoopback(text)) {
    wrong('be https, since the key travels in it (allowInsecure: true for plain http in a network you trust)')
  }
  if (url.username !== '' || url.password !== '') wrong('hold no user name or password')
  if (/[?#]/.test(text)) wrong('hold no query and no fragment')
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  if (!path.endsWith(BASE_PATH)) wrong(`end with ${BASE_PATH}`)
  return `${url.protocol}//${url.host}${path}`
}

/** Whether the host is a loopback address or `localhost`. Names that a resolver maps to loopback do not count. */
export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Whether there is a host, and it is not loopback. */
export function isRemote(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname !== '' && !isLoopback(url)
}

/**
 * The proxy that the environment sets for this URL's scheme; none for loopback and what `NO_PROXY` excludes. As in curl, a proxy without
 * a scheme uses http.
 */
export function findProxy(url: string, env: Env): { variable: string; value: string } | undefined {
  if (isLoopback(url) || isExcluded(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return undefined
  const variables = url.startsWith('https:') ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY']
  for (const variable of variables) {
    const value = env[variable]?.trim() ?? ''
    if (value !== '') return { variable, value: value.includes('://') ? value : `http://${value}` }
  }
  return undefined
}

/** `*`, addresses and hosts with their subdomains, each optionally with a port. Unlike curl and Node, no address ranges. */
function isExcluded(url: string, noProxy: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$|\.$/g, '')
  const usedPort = port || (protocol === 'https:' ? '443' : '80')
  return noProxy.split(/[\s,]+/).some((entry) => {
    // An IPv6 address without brackets has no port.
    const [, name = entry, onlyPort = usedPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
    const excluded = name.toLowerCase().replace(/^\[|\]$|^\*?\.|\.$/g, '')
    return onlyPort === usedPort && (excluded === '*' || (excluded !== '' && `.${host}`.endsWith(`.${excluded}`)))
  })
}
