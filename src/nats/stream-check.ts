/** Looks up the stream after an unanswered publish: to a publisher, a leader election and a missing stream look alike. */
import type { ApiError, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { JETSTREAM_CODES } from './nats-error.js'

const TIMEOUT_MS = 2_000

/** @returns the problem to correct; undefined if there is none or the lookup fails. Never rejects */
export async function findStreamProblem(
  connection: Pick<NatsConnection, 'request'>,
  stream: string,
  subject: string,
): Promise<string | undefined> {
  try {
    const reply = await connection.request(`$JS.API.STREAM.INFO.${stream}`, undefined, { timeout: TIMEOUT_MS })
    const { error, config } = reply.json<Partial<StreamInfo & { readonly error: ApiError }>>()
    if (error?.err_code === JETSTREAM_CODES.streamNotFound) return `the stream ${stream} does not exist`
    if (error?.err_code === JETSTREAM_CODES.notEnabledForAccount) return 'JetStream is not enabled for this account'
    const subjects = config?.subjects
    if (subjects === undefined || subjects.some((one) => matchesSubject(one, subject))) return undefined
    return `the stream ${stream} has no subject ${subject}`
  } catch {
    return undefined
  }
}

/** NATS wildcards: `*` matches one token, `>` one or more at the end. @param subject may have wildcards; then all of it must match */
export function matchesSubject(pattern: string, subject: string): boolean {
  const wanted = subject.split('.')
  const tokens = pattern.split('.')
  for (const [at, token] of tokens.entries()) {
    if (token === '>') return wanted.length > at
    const other = wanted[at]
    if (other === undefined || other === '>' || (token !== '*' && token !== other)) return false
  }
  return tokens.length === wanted.length
}
