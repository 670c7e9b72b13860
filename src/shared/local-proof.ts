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

/** A listener's reply to a challenge. */
export interface ChallengeReply {
  readonly status: number
  /** The header `www-authenticate`. */
  readonly challenge: string | undefined
}

/** `token`: a local service with another token. `foreign`: any other program. */
export type ProofProblem = 'token' | 'foreign'

const PROOF = /\bproof="([\w-]{43})"/

/** @returns undefined if the reply proves that the listener at `end` has the token */
export function findProofProblem(
  { status, challenge }: ChallengeReply,
  token: string,
  nonce: string,
  end: ServiceAddress,
): ProofProblem | undefined {
  const given = PROOF.exec(challenge ?? '')?.[1]
  if (status !== 401 || !isLocalService(challenge) || given === undefined) return 'foreign'
  return timingSafeEqual(Buffer.from(given), Buffer.from(createProof(token, nonce, end))) ? undefined : 'token'
}
