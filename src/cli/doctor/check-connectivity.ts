/** Checks of the way to the service: proxy, name, port, certificate. */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Settings } from '../../options/resolve-options.js'
import type { Check } from './doctor-check.js'

/** As long as the transport gives it. */
const CONNECT_TIMEOUT_MS = 3_000

interface Hop {
  readonly host: string
  readonly port: number
  /** Where its address was set, for the advice. */
  readonly setAs: 'url' | 'proxy'
}

/** In the order of a request; ends with the first that fails. */
export async function checkConnectivity(settings: Settings): Promise<Check[]> {
  const url = new URL(settings.url)
  const { check: proxy, hop: proxyHop } = checkProxy(settings)
  const checks = [proxy]
  const hop = proxyHop ?? toHop(url, 'url')
  const steps = [
    () => checkName(hop),
    () => checkPort(hop, settings),
    // Through a proxy only a whole request can tell.
    ...(url.protocol === 'https:' && proxyHop === undefined ? [() => checkCertificate(hop, settings)] : []),
  ]
  for (const step of steps) {
    if (checks.at(-1)?.ok === false) break
    checks.push(await step())
  }
  return checks
}

function checkProxy({ proxy, noProxy, url }: Settings): { readonly check: Check; readonly hop?: Hop } {
  const name = 'proxy'
  if (proxy === false) return { check: { name, ok: true, detail: 'none' } }
  const parsed = new URL(proxy)
  const shown = `${parsed.protocol}//${parsed.host}` // without its password
  if (isExempt(toHop(new URL(url), 'url'), noProxy))
    return { check: { name, ok: true, detail: `${shown}, but not for this host (NO_PROXY)` } }
  return { check: { name, ok: true, detail: `${shown}, through which all requests go` }, hop: toHop(parsed, 'proxy') }
}

/** As undici's `EnvHttpProxyAgent` reads NO_PROXY: hosts and their subdomains, with or without a port, or `*`. */
export function isExempt({ host, port }: Pick<Hop, 'host' | 'port'>, noProxy: string): boolean {
  if (noProxy === '*') return true
  return noProxy
    .split(/[,\s]/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = entry, ownPort] = /^(.+):(\d+)$/.exec(entry) ?? []
      const exempt = name.replace(/^\*?\./, '').toLowerCase()
      return (ownPort === undefined || Number(ownPort) === port) && (host === exempt || host.endsWith(`.${exempt}`))
    })
}

function toHop(url: URL, setAs: Hop['setAs']): Hop {
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    setAs,
  }
}

async function checkName({ host, setAs }: Hop): Promise<Check> {
  const name = 'dns'
  if (isIP(host) !== 0) return { name, ok: true, detail: `${host} is an address` }
  try {
    const addresses = await lookup(host, { all: true })
    return { name, ok: true, detail: `${host} is ${addresses.map(({ address }) => address).join(', ')}` }
  } catch (error) {
    return {
      name,
      ok: false,
      detail: `${host} has no address (${toErrorCode(error)})`,
      fix: `check the host in ${setAs}, and the network`,
    }
  }
}

async function checkPort({ host, port, setAs }: Hop, settings: Settings): Promise<Check> {
  const name = 'tcp'
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })
    return { name, ok: true, detail: `${host} port ${port} accepts connections` }
  } catch (error) {
    const fix = settings.isLocalDefault
      ? 'start the local service with: npx pino-ingest dev (or set PINO_INGEST_URL)'
      : `check host and port in ${setAs}, whether they are served, and firewalls between`
    return { name, ok: false, detail: `${host} port ${port} cannot be reached (${toErrorCode(error)})`, fix }
  } finally {
    socket.destroy()
  }
}

const PRIVATE_CA: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]

async function checkCertificate({ host, port }: Hop, { tls }: Settings): Promise<Check> {
  const name = 'tls'
  const socket = connectTls({ host, port, ...tls, ...(isIP(host) === 0 && { servername: host }) })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })
    return {
      name,
      ok: true,
      detail: `${socket.getProtocol() ?? 'TLS'}, certificate valid until ${socket.getPeerCertificate().valid_to}`,
    }
  } catch (error) {
    const code = toErrorCode(error)
    const fix = PRIVATE_CA.includes(code)
      ? 'name the file of your private CA in PINO_INGEST_TLS_CA'
      : "check the host and port in url, the server's certificate and this machine's clock"
    return { name, ok: false, detail: `no trusted connection to ${host} port ${port} (${code})`, fix }
  } finally {
    socket.destroy()
  }
}

function toErrorCode(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException
  return name === 'AbortError' ? `no answer within ${CONNECT_TIMEOUT_MS} ms` : (code ?? name)
}
