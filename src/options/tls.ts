/** Checks certificates and key at startup, so that requests do not fail later. */

export interface Tls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** Adds to `problems` what is wrong, without any of the texts. @returns whether they can be used */
export function checkTls(name: string, tls: Tls | undefined, problems: string[]): boolean {
  if (tls === undefined) return true
  // Loaded only with these options: it takes 5 ms.
  const { createSecureContext } = process.getBuiltinModule('node:tls')
  const { X509Certificate } = process.getBuiltinModule('node:crypto')
  const before = problems.length
  if ((tls.cert === undefined) !== (tls.key === undefined))
    problems.push(`${name}.cert and ${name}.key must be given together`)
  let part = 'ca'
  try {
    if (tls.ca !== undefined) void new X509Certificate(tls.ca) // a context ignores a damaged one
    part = 'cert and key'
    createSecureContext({ ...tls })
  } catch (error) {
    // OpenSSL's codes name the problem: ERR_OSSL_X509_KEY_VALUES_MISMATCH, ERR_OSSL_PEM_BAD_BASE64_DECODE, …
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    problems.push(`${name} must be certificates and a key that can be used, got ${part}: ${code} (not shown)`)
  }
  return problems.length === before
}
