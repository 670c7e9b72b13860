/** The token that opens `/local/`: which is good, made where none is given, and compared without telling by time how much is right. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { failure } from './reply.js'
import type { Reply } from './reply.js'

export const TOKEN_RULE = '16 to 512 characters of A-Z, a-z, 0-9, - and _'

export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{16,512}$/.test(value)
}

/** 128 bits. */
export function randomToken(): string {
  return randomBytes(16).toString('base64url')
}

/** The realm tells other programs that it is a service of this kind that listens. */
export const noToken: Reply = failure(
  401,
  'missing or wrong token: the address that `pino-ingest dev` printed holds it, behind #token= (in a test, service.token); ' +
    'send it as "Authorization: Bearer TOKEN"',
  'token_error',
  { 'www-authenticate': 'Bearer realm="pino-ingest"' },
)

export class Access {
  readonly #digest: Buffer

  constructor(token: string) {
    this.#digest = digest(token)
  }

  /** Where both are there the header counts. The query's is for addresses that are opened by hand: it can only read. */
  allows(request: IncomingMessage, query: URLSearchParams): boolean {
    const { method, headers } = request
    const given = headers.authorization === undefined
      ? (method === 'GET' || method === 'HEAD') && query.getAll('token')
      : /^Bearer +([\w-]+) *$/i.exec(headers.authorization)?.slice(1)
    if (!given || given.length !== 1) return false
    return timingSafeEqual(digest(String(given[0])), this.#digest)
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
