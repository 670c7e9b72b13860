/** A connection to NATS for commands that administer a fleet's streams. */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { createSecretMask } from '../../diagnostics/secret-mask.js'
import { manageJetStream } from '../../nats/connect.js'
import loadNats from '../../nats/load-nats.cjs'
import { toStreamNames } from '../../nats/message.js'
import type { StreamNames } from '../../nats/message.js'
import { describeNatsError, isAuthorizationError } from '../../nats/nats-error.js'
import { requireNats } from '../../nats/require-nats.js'
import { ServerConnection } from '../../nats/server-connection.js'
import { findSecretParts } from '../../options/nats-credentials.js'
import type { NatsSettings } from '../../options/nats-settings.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from './command.js'

export interface NatsSession {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly names: StreamNames
  /** Describes an error of NATS without secrets. */
  readonly describe: (error: unknown) => string
  readonly mask: (text: string) => string
  readonly close: () => Promise<void>
}

export const NATS_NOTE = `PINO_INGEST_NATS_SERVERS sets the servers, PINO_INGEST_NATS_CREDENTIALS_FILE a file with credentials,
PINO_INGEST_NATS_STREAM the stream (PINO_INGEST).`

/** Milliseconds to wait for a reply of JetStream: creating a replicated stream includes an election. */
const API_TIMEOUT_MS = 10_000

/** Resolves only the options for NATS. A URL and a key are not needed. @throws IngestError `CONFIG`, CommandError */
export function resolveNatsSettings(): NatsSettings {
  const { nats } = resolveFromProcess({}, ['nats', 'allowInsecure'])
  if (nats !== undefined) return nats
  const problem = 'set PINO_INGEST_NATS_SERVERS to the servers of NATS JetStream, such as tls://nats.example.com:4222'
  throw new CommandError('CONFIG', problem, EXIT_USAGE)
}

/** @throws IngestError `CONFIG`; CommandError if no server can be reached */
export async function openNatsSession(purpose: string, settings = resolveNatsSettings()): Promise<NatsSession> {
  const mask = createSecretMask(
    settings.credentials === undefined ? [] : findSecretParts(settings.credentials.reveal()),
  )
  const describe = (error: unknown): string => mask(describeNatsError(error))
  requireNats({ nats: settings })
  const server = new ServerConnection({ settings, purpose, reconnects: false })
  let connection: NatsConnection
  try {
    connection = await server.open()
  } catch (error) {
    const isRejected = isAuthorizationError(error)
    const text = describe(error)
    const advice = toConnectionAdvice(settings, text, isRejected)
    throw new CommandError(isRejected ? 'AUTH' : 'UNAVAILABLE', `no connection to NATS: ${text}`, EXIT_FAILED, [advice])
  }
  return {
    connection,
    jetstream: loadNats().jetstream(connection, { timeout: API_TIMEOUT_MS }),
    manager: await manageJetStream(connection, API_TIMEOUT_MS),
    names: toStreamNames(settings),
    describe,
    mask,
    close: () => server.close(),
  }
}

/** Advice for a failed connection. @param text message of the error */
function toConnectionAdvice(
  { credentials, tls }: Pick<NatsSettings, 'credentials' | 'tls'>,
  text: string,
  isRejected: boolean,
): string {
  if (isRejected) {
    return credentials === undefined
      ? 'the servers require credentials: set PINO_INGEST_NATS_CREDENTIALS_FILE to a file that contains them'
      : 'set PINO_INGEST_NATS_CREDENTIALS_FILE to a file with credentials that these servers accept'
  }
  if (/certificate/i.test(text))
    return 'for a private CA set PINO_INGEST_NATS_TLS_CA_FILE to a file with its certificate'
  if (/does not support 'tls'/i.test(text))
    return 'these servers do not support TLS: remove tls:// and PINO_INGEST_NATS_TLS_*'
  if (/refused/i.test(text)) return 'start the servers, or fix the address and port'
  return tls === undefined
    ? 'check the address and firewalls, and whether the servers require TLS (tls://)'
    : 'check the address and firewalls'
}
