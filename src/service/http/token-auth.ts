/**
 * The token that opens `/local/`: which is good, made where none is given, and compared without telling by time how much is
 * right. To who asks before saying it the service proves that it knows it too.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CHALLENGE_HEADER, createProof } from '../../shared/local-proof.js'
import { createFailure } from './service-reply.js'
import type { Reply } from './service-reply.js'

/** 128 bits. */
export function createRandomToken(): string {
  return randomBytes(16).toString('base64url')
}

/** Nothing else is ever signed. */
const NONCE = /^[\w-]{16,64}$/

export class TokenAuth {
  readonly #token: string
  readonly #digest: Buffer

  constructor(token: string) {
    this.#token = token
    this.#digest = digest(token)
  }

  /** The realm tells other programs that it is a service of this kind that listens. */
  createRefusal(request: IncomingMessage): Reply {
    const proof = this.#proof(request)
    return createFailure(
      401,
      'missing or wrong token: the address that `pino-ingest dev` printed holds it, behind #token= (in a test, service.token); ' +
        'send it as "Authorization: Bearer TOKEN"',
      'token_error',
      { 'www-authenticate': `Bearer realm="pino-ingest"${proof === undefined ? '' : `, proof="${proof}"`}` },
    )
  }

  /** Where both are there the header counts. The query's is for addresses that are opened by hand: it can only read. */
  allows(request: IncomingMessage, query: URLSearchParams): boolean {
    const { method, headers } = request
    const given =
      headers.authorization === undefined
        ? (method === 'GET' || method === 'HEAD') && query.getAll('token')
        : /^Bearer +([\w-]+) *$/i.exec(headers.authorization)?.slice(1)
    if (!given || given.length !== 1) return false
    return timingSafeEqual(digest(String(given[0])), this.#digest)
  }

  #proof({ headers, socket }: IncomingMessage): string | undefined {
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
