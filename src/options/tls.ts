/** Checks certificates and key at startup, so that requests do not fail later. */

/** PEM texts. */
export interface Tls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** @returns what is wrong, without any of the texts; undefined if they can be used */
export function findTlsProblem(tls: Tls): string | undefined {
  // Loaded only with these options: it takes 5 ms.
  const { createSecureContext } = process.getBuiltinModule('node:tls')
  const { X509Certificate } = process.getBuiltinModule('node:crypto')
  const steps: readonly (readonly [what: string, use: () => unknown])[] = [
    ['ca', () => tls.ca === undefined || new X509Certificate(tls.ca)], // a context ignores a damaged one
    ['cert and key', () => createSecureContext({ ...tls })],
  ]
  for (const [what, use] of steps) {
    try {
      use()
    } catch (error) {
      // OpenSSL's codes name the problem: ERR_OSSL_X509_KEY_VALUES_MISMATCH, ERR_OSSL_PEM_BAD_BASE64_DECODE, …
      return `${what}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`
    }
  }
  return undefined
}
