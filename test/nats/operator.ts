/** Creates an operator with an account and its users as JWTs, like `nsc`. */
import { nkeys } from '@nats-io/transport-node'

type KeyPair = ReturnType<typeof nkeys.createUser>

const UNLIMITED = { subs: -1, data: -1, payload: -1 }
const ACCOUNT_LIMITS = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const JETSTREAM_LIMITS = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

/** @param claims standard JWT claims, such as `exp` */
function sign(issuer: KeyPair, subject: KeyPair, nats: object, claims: object = {}): string {
  const toPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const name = subject.getPublicKey()
  const payload = { jti: name, iat: 1_700_000_000, iss: issuer.getPublicKey(), name, sub: name, ...claims }
  const signed = `${toPart({ typ: 'JWT', alg: 'ed25519-nkey' })}.${toPart({ ...payload, nats: { ...nats, version: 2 } })}`
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`
}

export class Account {
  readonly keys = nkeys.createAccount()
  /** Issues users instead of the account's own key. */
  readonly signing = nkeys.createAccount()

  /** @returns the content of a `.creds` file */
  createUser({ expiresInS, isSigned = false }: { expiresInS?: number; isSigned?: boolean } = {}): string {
    const user = nkeys.createUser()
    const nats = { pub: {}, sub: {}, ...UNLIMITED, type: 'user' }
    const claims = expiresInS === undefined ? {} : { exp: Math.floor(Date.now() / 1_000) + expiresInS }
    const jwt = isSigned
      ? sign(this.signing, user, { ...nats, issuer_account: this.keys.getPublicKey() }, claims)
      : sign(this.keys, user, nats, claims)
    return `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------

************************* IMPORTANT *************************
NKEY Seed printed below can be used to sign and prove identity.
NKEYs are sensitive and should be treated as secrets.

-----BEGIN USER NKEY SEED-----
${new TextDecoder().decode(user.getSeed())}
------END USER NKEY SEED------
`
  }
}

export class Operator {
  readonly #keys = nkeys.createOperator()
  readonly #system = new Account()
  readonly #account: Account

  constructor(account: Account) {
    this.#account = account
  }

  /** Creates the server configuration. */
  config(): string {
    const toLine = ({ keys, signing }: Account, isSystem = false): string => {
      const limits = { ...ACCOUNT_LIMITS, ...(!isSystem && JETSTREAM_LIMITS) }
      const nats = { limits, signing_keys: [signing.getPublicKey()], type: 'account' }
      return `${keys.getPublicKey()}: ${sign(this.#keys, keys, nats)}`
    }
    return [
      `operator: ${sign(this.#keys, this.#keys, { type: 'operator' })}`,
      `system_account: ${this.#system.keys.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${toLine(this.#system, true)}\n${toLine(this.#account)} }`,
    ].join('\n')
  }
}
