/**
 * The token that `/local/` requires. It is compared in constant time. A client can send a challenge before it sends the token; the
 * service then proves that it knows the token.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CHALLENGE_HEADER, createProof } from '../../shared/local-proof.js'
import { createFailure } from '../service-reply.js'
import type { Reply } from '../service-reply.js'

/** Creates a token with 128 random bits. */
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
