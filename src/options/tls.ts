/** Whether certificates and key can be used at all: found at the start, and not in every request. */

/** PEM texts. */
export interface Tls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** What is wrong, without any of the texts; `undefined` where they can be used. */
export function findTlsProblem(tls: Tls): string | undefined {
  // Not imported: to load them takes 5 ms, which a start without these options need not pay.
  const { createSecureContext } = process.getBuiltinModule('node:tls')
  const { X509Certificate } = process.getBuiltinModule('node:crypto')
  const steps: readonly (readonly [what: string, use: () => unknown])[] = [
    ['ca', () => tls.ca === undefined || new X509Certificate(tls.ca)], // a context would pass over a damaged one
    ['cert and key', () => createSecureContext({ ...tls })],
  ]
  for (const [what, use] of steps) {
    try {
      use()
    } catch (error) {
      // OpenSSL's codes say what it is: ERR_OSSL_X509_KEY_VALUES_MISMATCH, ERR_OSSL_PEM_BAD_BASE64_DECODE, …
      return `${what}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`
    }
  }
  return undefined
}
