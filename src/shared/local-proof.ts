/**
 * Lets a local service prove possession of a token without sending it: the 401 reply contains an HMAC over the client's
 * nonce and the service's own address. Client and service both use this module.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export const CHALLENGE_HEADER = 'x-pino-ingest-challenge'

/** Address of the service's end of a connection. */
export interface ServiceAddress {
  readonly address: string
  readonly port: number
}

/**
 * The proof covers the address. If another user's program relays the nonce to the service on another port, the proof
 * that it gets is valid for that port only.
 */
export function createProof(token: string, nonce: string, { address, port }: ServiceAddress): string {
  const origin = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  return createHmac('sha256', token).update(`${nonce} ${origin}`).digest('base64url')
}

/** Whether `www-authenticate` has the form of a local service. This is not a proof. */
export function isLocalService(challenge: string | undefined): boolean {
  return /^Bearer\b.*\bpino-ingest\b/i.test(challenge ?? '')
}

/** `token`: a local service that did not prove that it has the token. `foreign`: any other program. */
export type ProofProblem = 'token' | 'foreign'

const PROOF = /\bproof="([\w-]{43})"/

/** @param challenge the header `www-authenticate` @returns undefined if the reply proves that the listener at `end` has the token */
export function findProofProblem(
  status: number | undefined,
  challenge: string | undefined,
  token: string,
  nonce: string,
  end: ServiceAddress,
): ProofProblem | undefined {
  if (status !== 401 || !isLocalService(challenge)) return 'foreign'
  const given = PROOF.exec(challenge ?? '')?.[1] ?? ''
  const expected = createProof(token, nonce, end)
  return given !== '' && timingSafeEqual(Buffer.from(given), Buffer.from(expected)) ? undefined : 'token'
}
