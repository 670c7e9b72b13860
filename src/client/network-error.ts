/** Describes network errors without quoting data that was sent. */

/** Explanations of codes. */
const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host name is unknown',
  EPROTO: 'is it http instead of https?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'is it http instead of https?',
  UND_ERR_SOCKET: 'the connection was closed before the reply was complete',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'the reply has too large headers',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'a private CA goes into tls.ca',
  SELF_SIGNED_CERT_IN_CHAIN: 'a private CA goes into tls.ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'a private CA goes into tls.ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'a private CA goes into tls.ca',
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is another host's",
}

/** The code, such as `ECONNREFUSED`, or the name of the error. Not the message, which may quote data that was sent. */
export function describeNetworkError(error: unknown): string {
  const codes = [...new Set(codesOf(error))]
  return codes.length === 0 ? 'the request failed' : codes.map(withHint).join(', ')
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  // Happy eyeballs: one error per address of the host.
  const inner = error instanceof AggregateError ? error.errors.flatMap(codesOf) : []
  if (inner.length > 0) return inner
  const proxy = /^Proxy response \((\d{3})\)/.exec(error.message)
  if (proxy !== null) return [`the proxy answered ${proxy[1] ?? ''}`]
  const { code } = error as NodeJS.ErrnoException
  if (typeof code === 'string') return [code]
  const cause = codesOf(error.cause) // of `fetch`
  return cause.length > 0 ? cause : [error.name]
}

function withHint(code: string): string {
  const hint =
    code.startsWith('HPE_') || code === 'HTTPParserError'
      ? 'the reply is not HTTP'
      : Object.hasOwn(HINTS, code)
        ? HINTS[code]
        : undefined
  return hint === undefined ? code : `${code} (${hint})`
}
