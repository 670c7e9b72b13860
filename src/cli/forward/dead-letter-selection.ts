/** Shared by the `forward dead` commands: their flags, and reading the selected letters. */
import { readDeadLetters } from '../../nats/dead-letter-stream.js'
import type { StoredDeadLetter } from '../../nats/dead-letter-stream.js'
import type { BatchKind } from '../../nats/message.js'
import { isPermissionError, JETSTREAM_CODES, readErrorCode } from '../../nats/nats-error.js'
import { PATHS } from '../../protocol/limits.js'
import { CommandError, createUsageError, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'
import { openNatsSession } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'

export interface DeadLetterFilter {
  /** Id of the batch that contained the entry, in lower case, with or without the hash that the forwarder appends to other programs' ids. */
  readonly batchId: string | undefined
  readonly kind: BatchKind | undefined
}

/** Paths of the service's endpoints. */
export const ENDPOINTS: Readonly<Record<BatchKind, string>> = { logs: PATHS.ingest, requests: PATHS.requests }

export const KIND_FLAG: Flags = {
  kind: { value: 'logs|requests', meaning: 'only log entries, or only request logs' },
}

/** @throws CommandError */
export function parseDeadLetterFilter({ texts, positionals: [batchId] }: Arguments): DeadLetterFilter {
  const kind = texts.get('kind')
  if (kind !== undefined && kind !== 'logs' && kind !== 'requests')
    throw createUsageError(`--kind must be logs or requests, got ${JSON.stringify(kind)}`)
  return { batchId: batchId?.toLowerCase(), kind }
}

/** The oldest first. @throws the client's errors */
export async function* selectDeadLetters(
  { manager, names }: NatsSession,
  { batchId, kind }: DeadLetterFilter,
): AsyncGenerator<StoredDeadLetter, undefined> {
  for await (const letter of readDeadLetters(manager, names)) {
    if (batchId !== undefined && !`${letter.batchId.toLowerCase()}.`.startsWith(`${batchId}.`)) continue
    if (kind === undefined || kind === letter.kind) yield letter
  }
}

/** Runs a command with a NATS session. @throws CommandError with advice for errors of NATS */
export async function withSession<T>(purpose: string, run: (session: NatsSession) => Promise<T>): Promise<T> {
  const session = await openNatsSession(purpose)
  try {
    return await run(session)
  } catch (error) {
    if (error instanceof CommandError) throw error
    if (readErrorCode(error) === JETSTREAM_CODES.streamNotFound) {
      throw new CommandError(
        'STREAM',
        `the stream ${session.names.deadStream} does not exist; create it with pino-ingest forward init`,
        EXIT_FAILED,
      )
    }
    if (isPermissionError(error)) {
      throw new CommandError(
        'AUTH',
        `the user lacks permissions of the role dead (${session.describe(error)}); docs/fleet.md lists them`,
        EXIT_FAILED,
      )
    }
    throw new CommandError('UNAVAILABLE', `NATS JetStream: ${session.describe(error)}`, EXIT_FAILED)
  } finally {
    await session.close()
  }
}
