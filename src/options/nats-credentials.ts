/** Credentials of NATS: their parts, and what they say about their holder. Nothing is verified: the servers do that. */
import { createHash } from 'node:crypto'
import type { Tls } from './tls.js'

export interface UserJwt {
  readonly jwt: string
  readonly seed: string
}

const CREDS =
  /-----BEGIN NATS USER JWT-----\s+(?<jwt>\S+)\s+-{3,}END NATS USER JWT[^]*-----BEGIN USER NKEY SEED-----\s+(?<seed>\S+)/

/** @returns undefined if it is not the content of a `.creds` file. The client's own reader needs a line feed at the end */
export function parseCreds(text: string): UserJwt | undefined {
  const { jwt, seed } = CREDS.exec(text)?.groups ?? {}
  return jwt === undefined || seed === undefined ? undefined : { jwt, seed }
}

/** The secret parts of a `.creds` file, or a bare seed. The text around them consists of words that messages contain as well. */
export function findSecretParts(credentials: string): string[] {
  const { jwt, seed } = parseCreds(credentials) ?? { seed: credentials }
  return jwt === undefined ? [seed] : [jwt, seed]
}

/**
 * Identifies the account that receives what these credentials publish, as far as they tell: entries on disk must not be published into
 * another one. From it no secret can be recovered.
 * @returns of a JWT its account, which stays the same when users are replaced; else what distinguishes the user. Undefined without credentials
 */
export function findNatsIdentity(credentials: string | undefined, tls: Tls | undefined): string | undefined {
  if (credentials !== undefined) {
    const user = parseCreds(credentials)
    return (
      (user === undefined ? undefined : accountOf(user.jwt)) ?? createHash('sha256').update(credentials).digest('hex')
    )
  }
  if (tls?.cert === undefined) return undefined
  // Servers may take the user from these (`verify_and_map`). A renewed certificate has the same ones.
  const { X509Certificate } = process.getBuiltinModule('node:crypto')
  const { subject, subjectAltName = '' } = new X509Certificate(tls.cert)
  return `${subject}\n${subjectAltName}`
}

/** NATS: an account may have signing keys, which then issue its users' JWTs and name it. */
function accountOf(jwt: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    const { iss, nats } = Object(claims) as { readonly iss?: unknown; readonly nats?: unknown }
    const { issuer_account: account } = Object(nats) as { readonly issuer_account?: unknown }
    const found = account ?? iss
    return typeof found === 'string' && found !== '' ? found : undefined
  } catch {
    return undefined // the server refuses it
  }
}
