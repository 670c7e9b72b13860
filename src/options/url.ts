/** The base URL, and the way to it. */
import { BASE_PATH } from '../protocol/limits.js'

type Env = Readonly<Record<string, string | undefined>>

/** Without a trailing slash. What is wrong goes to `problems`; a URL with a password is not shown. */
export function checkUrl(given: string, allowInsecure: boolean, problems: string[]): string {
  const text = given.trim()
  if (!URL.canParse(text)) {
    // Not even `://` in it: then it may be the key, in the wrong place.
    const got = text.includes('://') ? JSON.stringify(text.replace(/\/\/.*@/, '//…@')) : `text of ${text.length} characters (not shown)`
    problems.push(`url must be an absolute URL such as https://logs.example.com${BASE_PATH}, got ${got}`)
    return given
  }
  const url = new URL(text)
  const place = `${url.protocol}//${url.host}${url.pathname}`
  const wrong = (rule: string): void => void problems.push(`url must ${rule}, got ${place}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') wrong('begin with https:// or http://')
  else if (url.protocol === 'http:' && !allowInsecure && !isLoopback(text)) {
    wrong('be https, since the key travels in it (allowInsecure: true for plain http in a network you trust)')
  }
  if (url.username !== '' || url.password !== '') wrong('hold no user name or password')
  if (url.search !== '' || url.hash !== '') wrong('hold no query and no fragment')
  const path = url.pathname.replace(/\/+$/, '')
  if (!path.endsWith(BASE_PATH)) wrong(`end with ${BASE_PATH}`)
  return `${url.protocol}//${url.host}${path}`
}

export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** The proxy that the environment names for this URL's scheme, if it is a URL. */
export function proxyFor(url: string, env: Env): string | false {
  const names = url.startsWith('https:') ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY']
  const proxy = names.map((name) => env[name]).find((value) => value !== undefined && value !== '')
  return proxy !== undefined && URL.canParse(proxy) ? proxy : false
}
