/** Reads the dead letters that the arguments of a `forward dead` command select. */
import { readDeadLetters } from '../../nats/dead-letter.js'
import type { StoredDeadLetter } from '../../nats/dead-letter.js'
import { findSetupFix } from '../../nats/fleet-setup.js'
import { isObject } from '../../shared/argument-checks.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import type { Arguments } from '../shared/command.js'
import { openNatsSession } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'

/**
 * Calls `use` with the letters, the oldest first.
 * @param given a positional is the id of the batch that contained the entry, with or without the hash that the forwarder appends to other
 *   programs' ids
 * @throws CommandError, with advice for errors of NATS
 */
export async function withDeadLetters<T>(
  { positionals: [batchId] }: Arguments,
  use: (letters: AsyncGenerator<StoredDeadLetter, undefined>, session: NatsSession) => Promise<T>,
): Promise<T> {
  const session = await openNatsSession('forward dead')
  try {
    return await use(select(session, batchId?.toLowerCase()), session)
  } catch (error) {
    const text = `${session.names.deadStream}: ${session.describe(error)}`
    throw new CommandError('STREAM', text, EXIT_FAILED, [findSetupFix(error)])
  } finally {
    await session.close()
  }
}

async function* select(
  { manager, names }: NatsSession,
  batchId: string | undefined,
): AsyncGenerator<StoredDeadLetter, undefined> {
  for await (const letter of readDeadLetters(manager, names))
    if (batchId === undefined || `${letter.batchId.toLowerCase()}.`.startsWith(`${batchId}.`)) yield letter
}

/** Whether a letter contains an entry. */
export function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
