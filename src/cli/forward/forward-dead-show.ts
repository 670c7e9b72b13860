/** `pino-ingest forward dead show`: prints rejected entries with the reason, as text or JSON. */
import type { StoredDeadLetter } from '../../nats/dead-letter.js'
import { toDeadLetterLine } from '../../spool/dead-letter-file.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { EntryPrinter, LIMIT_FLAG, parseLimit } from '../shared/entry-printer.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import { isJsonObject, withDeadLetters } from './selected-dead-letters.js'

export const deadShowCommand: Command = {
  examples: [
    ['npx pino-ingest forward dead show', 'the oldest rejected entries with their reasons'],
    ['npx pino-ingest forward dead show --json', 'for a script'],
  ],
  usage: ['pino-ingest forward dead show [BATCH_ID] [FLAGS]'],
  flags: LIMIT_FLAG,
  notes: [
    'BATCH_ID is the batch_id of the batch that contained the entry.',
    'With --json, it prints one object per line: at, batch_id, index, status, code, field, reason, and the entry as it was sent.',
    NATS_NOTE,
    'Exit codes: 0 done, 1 the batch has no dead letters or the stream cannot be read, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  run,
}

async function run(given: Arguments): Promise<number> {
  const limit = parseLimit(given)
  return withDeadLetters(given, async (letters, { mask }) => {
    const printer = new EntryPrinter(given.switches.has('json'), limit, mask)
    for await (const letter of letters) {
      printer.printDeadLetter(letter, toJson(letter))
      if (printer.isFull) break
    }
    printer.end('There are no such dead letters.')
    return printer.count === 0 && given.positionals.length > 0 ? EXIT_FAILED : EXIT_DONE
  })
}

function toJson(letter: StoredDeadLetter): string {
  // The content of a message that was not a batch may not be JSON.
  const entry = isJsonObject(letter.entry) ? letter.entry : JSON.stringify(letter.entry)
  return toDeadLetterLine({ ...letter, entry }, letter.at).trimEnd()
}
