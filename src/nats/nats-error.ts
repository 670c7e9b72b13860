/**
 * Classifies and describes errors of the NATS client. It compares names and codes of the error and its causes instead of classes, since
 * this module does not load the client. Pure.
 */

/** JetStream's error codes. @see https://github.com/nats-io/nats-server/blob/main/server/errors.json */
export const JETSTREAM_CODES = {
  accountLimit: 10_002,
  consumerNotFound: 10_014,
  insufficientResources: 10_023,
  memoryExceeded: 10_028,
  notEnabledForAccount: 10_039,
  insufficientStorage: 10_047,
  messageTooLarge: 10_054,
  streamNotFound: 10_059,
  otherStream: 10_060,
  subjectsOverlap: 10_065,
  wrongLastSequence: 10_071,
  replicasNeedCluster: 10_074,
  notEnabled: 10_076,
  /** Usually because of the stream's limits. */
  storeFailed: 10_077,
  streamSealed: 10_109,
} as const

/** Error code of JetStream's reply, if there is one. */
export function readErrorCode(error: unknown): number | undefined {
  for (const one of withCauses(error)) {
    const { code } = one as { readonly code?: unknown }
    if (typeof code === 'number' && code >= 10_000) return code
  }
  return undefined
}

/** Whether the stream or the consumer does not exist. */
export function isNotFound(error: unknown): boolean {
  const code = readErrorCode(error)
  return code === JETSTREAM_CODES.streamNotFound || code === JETSTREAM_CODES.consumerNotFound
}

/** Whether the user lacks the permission for a subject. */
export function isPermissionError(error: unknown): boolean {
  return namesOf(error).includes('PermissionViolationError')
}

/** Subjects that differ from request to request, up to the part that is always the same. */
const VARYING = /^(_INBOX\.[^.]+|\$KV\.[^.]+|\$JS\.ACK\.[^.]+)\..*/

/** The permission that the user lacks, such as `publish to app.logs`. */
export function findMissingPermission(error: unknown): string | undefined {
  const refused = withCauses(error).find(({ name }) => name === 'PermissionViolationError')
  const { operation, subject = '' } = (refused ?? {}) as { readonly operation?: string; readonly subject?: string }
  if (subject === '') return undefined
  return `${operation === 'subscription' ? 'subscribe' : 'publish'} to ${subject.replace(VARYING, '$1.>')}`
}

/** Whether the user lacks the permission to subscribe to replies. The error then does not tell whether publishing is permitted. */
export function isInboxRefused(error: unknown): boolean {
  return withCauses(error).some((one) => (one as { readonly operation?: unknown }).operation === 'subscription')
}

const CREDENTIALS_REJECTED =
  /authorization violation|authentication (?:revoked|expired)|unable to parse credentials|invalid (?:checksum|seed|public key|private key|prefix|encoded)/i

/** Whether the credentials are rejected or malformed. An authentication timeout is excluded: the server is slow. */
export function isAuthorizationError(error: unknown): boolean {
  return withCauses(error).some(({ name, message }) =>
    name === 'AuthorizationError' || name === 'UserAuthenticationExpiredError' || name === 'NKeysError'
      ? !/timeout/i.test(message)
      : CREDENTIALS_REJECTED.test(message),
  )
}

/** Whether the request has no responder: the stream does not exist, its servers elect a leader, or JetStream is disabled. */
export function isUnanswered(error: unknown): boolean {
  // The client also uses `JetStreamNotEnabled` for an account without JetStream, but then with the server's reply as its cause.
  return (
    readErrorCode(error) === undefined &&
    namesOf(error).some((name) => name === 'NoResponders' || name === 'JetStreamNotEnabled')
  )
}

/** Whether JetStream is disabled, or has no leader at present. */
export function isJetStreamMissing(error: unknown): boolean {
  const code = readErrorCode(error)
  return code === JETSTREAM_CODES.notEnabledForAccount || code === JETSTREAM_CODES.notEnabled || isUnanswered(error)
}

/** The messages of the error and its causes. They can quote a subject but not this client's credentials, so they are not masked. */
export function describeNatsError(error: unknown): string {
  const messages: string[] = []
  for (const { message: text } of withCauses(error))
    if (text !== '' && !messages.some((message) => message.includes(text))) messages.push(text)
  return messages.length === 0 ? String(error) : messages.slice(0, 3).join(': ')
}

/** Causes can be circular. */
const MAX_CAUSES = 5

/** The error and its causes, the error first. */
function withCauses(error: unknown): Error[] {
  const errors: Error[] = []
  for (let one = error; one instanceof Error && errors.length < MAX_CAUSES; one = one.cause) errors.push(one)
  return errors
}

function namesOf(error: unknown): string[] {
  return withCauses(error).map(({ name }) => name)
}
