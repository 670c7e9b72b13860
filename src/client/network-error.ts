/** Describes the failures of requests without quoting data that was sent. */
import type { ProcessFailure } from '../batch/outcome.js'

export interface RequestErrorExplanation {
  readonly text: string
  /** Set, with its remedy, if the failure is not an ordinary network error. */
  readonly kind?: ProcessFailure
  readonly remedy?: string
}

/** Names and codes of errors that the network does not cause, such as `TypeError ERR_INVALID_ARG_TYPE`. */
const PROGRAM_ERROR = /^(?:\w+Error ERR_\w+|Error \w*MODULE_NOT_FOUND)$/

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

/**
 * The code, such as `ECONNREFUSED`, or the name of the error. The message only of errors that the network does not cause.
 * @param mask removes secrets from such a message
 */
export function explainRequestError(error: unknown, mask: (text: string) => string): RequestErrorExplanation {
  const found = findRoots(error).map((root) => explain(root, mask))
  const text = [...new Set(found.map((one) => one.text))].join(', ') || 'the request failed'
  return { ...found.find(({ kind }) => kind !== undefined), text }
}

/** Happy eyeballs has one error per address of the host, `fetch` a cause. */
function findRoots(error: unknown): NodeJS.ErrnoException[] {
  if (!(error instanceof Error)) return []
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(findRoots)
  const inner = 'code' in error ? [] : findRoots(error.cause)
  return inner.length > 0 ? inner : [error]
}

function explain(error: NodeJS.ErrnoException, mask: (text: string) => string): RequestErrorExplanation {
  const { name, message } = error
  const proxy = /^Proxy response \((\d{3})\)/.exec(message)
  if (proxy !== null) return { text: `the proxy answered ${proxy[1] ?? ''}` }
  const code = typeof error.code === 'string' ? error.code : undefined
  if (code === undefined ? name !== 'HTTPParserError' : PROGRAM_ERROR.test(`${name} ${code}`))
    return { text: `${name}: ${mask(message.split('\n', 1)[0] as string)}`, kind: 'client', remedy: findRemedy(error) }
  // No other error of undici with this message ends a request.
  if (code === 'UND_ERR_SOCKET' && message === 'bad response') {
    const text = 'the server sent 100 Continue without being asked, which undici refuses'
    const remedy = 'configure the server or gateway to send `100 Continue` only after `Expect: 100-continue`'
    return { text, kind: 'client', remedy }
  }
  const text = withHint(code ?? name)
  if (code !== 'EMFILE' && code !== 'ENFILE') return { text }
  return { text, kind: 'descriptors', remedy: 'raise the limit of open files (`ulimit -n`), or lower maxConcurrency' }
}

function findRemedy({ name, message }: Error): string {
  if (!message.includes('WebAssembly'))
    return 'if it lasts, report it with the output of `npx pino-ingest doctor --report`'
  if (name === 'ReferenceError') return 'requests need WebAssembly: start node without --jitless'
  return 'requests need WebAssembly: start node with --disable-wasm-trap-handler (also in NODE_OPTIONS), or raise `ulimit -v`'
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
