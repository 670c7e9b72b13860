/** Reads the dead letters that the arguments of a `forward dead` command select. */
import { readDeadLetters } from '../../nats/dead-letter.js'
import type { StoredDeadLetter } from '../../nats/dead-letter.js'
import { isPermissionError, JETSTREAM_CODES, readErrorCode } from '../../nats/nats-error.js'
import { isObject } from '../../shared/argument-checks.js'
import { CommandError, createUsageError, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Flags } from '../shared/command.js'
import { openNatsSession } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'

export type SelectedDeadLetters = AsyncGenerator<StoredDeadLetter, undefined>

export const KIND_FLAG: Flags = {
  kind: { value: 'logs|requests', meaning: 'only log entries, or only request logs' },
}

/**
 * Calls `use` with the letters, the oldest first.
 * @param given a positional is the id of the batch that contained the entry, with or without the hash that the forwarder appends to other
 *   programs' ids
 * @throws CommandError, with advice for errors of NATS
 */
export async function withDeadLetters<T>(
  { texts, positionals: [batchId] }: Arguments,
  use: (letters: SelectedDeadLetters, session: NatsSession) => Promise<T>,
): Promise<T> {
  const kind = texts.get('kind')
  if (kind !== undefined && kind !== 'logs' && kind !== 'requests')
    throw createUsageError(`--kind must be logs or requests, got ${JSON.stringify(kind)}`)
  const session = await openNatsSession('forward dead')
  try {
    return await use(select(session, batchId?.toLowerCase(), kind), session)
  } catch (error) {
    if (error instanceof CommandError) throw error
    const text = session.describe(error)
    const [code, message] =
      readErrorCode(error) === JETSTREAM_CODES.streamNotFound
        ? ['STREAM', `the stream ${session.names.deadStream} does not exist; create it with pino-ingest forward init`]
        : isPermissionError(error)
          ? ['AUTH', `the user lacks permissions of the role dead (${text}); docs/fleet-operations.md lists them`]
          : ['UNAVAILABLE', `NATS JetStream: ${text}`]
    throw new CommandError(code, message, EXIT_FAILED)
  } finally {
    await session.close()
  }
}

async function* select(
  { manager, names }: NatsSession,
  batchId: string | undefined,
  kind: string | undefined,
): SelectedDeadLetters {
  for await (const letter of readDeadLetters(manager, names)) {
    const isOfBatch = batchId === undefined || `${letter.batchId.toLowerCase()}.`.startsWith(`${batchId}.`)
    if (isOfBatch && (kind === undefined || kind === letter.kind)) yield letter
  }
}

/** Whether a letter contains an entry. */
export function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
