/**
 * Access control of the local API: token, `Host` and `Origin`. `/local/` requires the token, which is compared in constant time. A client can send a challenge before it sends the
 * token; the service then proves that it knows the token. `Host` must be a loopback host, and `Origin` this service.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CHALLENGE_HEADER, createProof } from '../../shared/local-proof.js'
import { createFailure } from '../service-reply.js'
import type { Reply } from '../service-reply.js'

export function createRandomToken(): string {
  return randomBytes(16).toString('base64url')
}

/** Format of a challenge. The service signs no other text. */
const NONCE = /^[\w-]{16,64}$/

export class TokenAuth {
  readonly #token: string
  readonly #digest: Buffer

  constructor(token: string) {
    this.#token = token
    this.#digest = digest(token)
  }

  /** Clients recognize a local service by the realm. */
  createRefusal(request: IncomingMessage): Reply {
    const proof = this.#createProof(request)
    const message =
      'missing or wrong token: use the one after #token= in the URL that `pino-ingest dev` printed (in a test: service.token), ' +
      'and send it as "Authorization: Bearer TOKEN"'
    const challenge = `Bearer realm="pino-ingest"${proof === undefined ? '' : `, proof="${proof}"`}`
    return createFailure(401, message, 'token_error', { 'www-authenticate': challenge })
  }

  /** The header has precedence over the query. A token in the query permits only reads; it is for URLs that a user opens. */
  allows({ method, headers }: IncomingMessage, search: URLSearchParams): boolean {
    const isRead = method === 'GET' || method === 'HEAD'
    const inQuery = isRead ? search.getAll('token') : []
    const given =
      headers.authorization === undefined ? inQuery : /^Bearer +([\w-]+) *$/i.exec(headers.authorization)?.slice(1)
    return given?.length === 1 && timingSafeEqual(digest(String(given[0])), this.#digest)
  }

  #createProof({ headers, socket }: IncomingMessage): string | undefined {
    const nonce = headers[CHALLENGE_HEADER]
    const { localAddress, localPort } = socket
    if (typeof nonce !== 'string' || !NONCE.test(nonce) || localAddress === undefined || localPort === undefined)
      return undefined
    return createProof(this.#token, nonce, { address: localAddress, port: localPort })
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses requests from other web pages: any page can make a browser send requests to a loopback port, and can read the replies if its
 * own host name resolves to 127.0.0.1 (DNS rebinding).
 * @returns a description of the problem with the request's `Host` or `Origin`; undefined if both are valid
 */
export function findOriginProblem(request: IncomingMessage): string | undefined {
  const { host = '', origin } = request.headers
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.toLowerCase() ?? ''
  if (!LOOPBACK_NAMES.includes(name)) {
    return `the Host header must be a loopback host (${LOOPBACK_NAMES.join(', ')}), got ${quote(host)}`
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return `the Origin header must be the origin of this service, because other web pages may not access logs; got ${quote(origin)}`
  }
  return undefined
}

function quote(value: string): string {
  return JSON.stringify(value.slice(0, 100))
}

/** For example `http://127.0.0.1:4319`. */
export function formatOrigin(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
