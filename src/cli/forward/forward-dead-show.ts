/** `pino-ingest forward dead show`: prints rejected entries with the reason, as text or JSON. */
import { toDeadLetterLine } from '../../spool/dead-letter-file.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatEntrySummary } from '../shared/format-entry-summary.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import { toPrintable } from '../shared/printable.js'
import { parseInteger } from '../shared/quantities.js'
import { formatRejection } from '../spool/read-dead-letters.js'
import { KIND_FLAG, parseDeadLetterFilter, selectDeadLetters, withSession } from './dead-letter-selection.js'
import { isJsonObject } from './republished-batch.js'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000_000
const MAX_MESSAGE_CHARS = 500

export const deadShowCommand: Command = {
  summary: 'Shows the entries that the service rejected, the oldest first, with its reason. It changes nothing.',
  examples: [
    ['npx pino-ingest forward dead show', 'the oldest rejected entries with their reasons'],
    ['npx pino-ingest forward dead show --json', 'for a script'],
  ],
  usage: ['pino-ingest forward dead show [BATCH_ID] [FLAGS]'],
  flags: {
    ...KIND_FLAG,
    limit: { value: 'N', meaning: `shows at most this many entries (${DEFAULT_LIMIT}; with --json, all)` },
  },
  notes: [
    'BATCH_ID is the batch_id of the batch that contained the entry.',
    'With --json, it prints one object per line: at, batch_id, index, status, code, field, reason, and the entry as it was sent.',
    NATS_NOTE,
    'Exit codes: 0 done, 1 the batch has no dead letters or the stream cannot be read, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const filter = parseDeadLetterFilter(given)
  const asJson = switches.has('json')
  const limit =
    asJson && !texts.has('limit')
      ? Infinity
      : parseInteger('limit', texts.get('limit') ?? String(DEFAULT_LIMIT), 1, MAX_LIMIT)
  return withSession('forward dead', async (session) => {
    const shorten = (text: string): string => {
      const masked = session.mask(text)
      return toPrintable(masked.length <= MAX_MESSAGE_CHARS ? masked : `${masked.slice(0, MAX_MESSAGE_CHARS - 1)}…`)
    }
    let shown = 0
    for await (const letter of selectDeadLetters(session, filter)) {
      if (shown >= limit) {
        if (!asJson) process.stdout.write(`… only the first ${limit} are shown; --limit N shows more\n`)
        break
      }
      shown += 1
      if (asJson) {
        // The content of a message that was not a batch may not be JSON.
        const entry = isJsonObject(letter.entry) ? letter.entry : JSON.stringify(letter.entry)
        process.stdout.write(
          `${toPrintable(session.mask(toDeadLetterLine({ ...letter, entry }, letter.at).trimEnd()))}\n`,
        )
        continue
      }
      const origin = `(${shorten(letter.at)}, batch ${shorten(letter.batchId)}, entry ${letter.index})`
      process.stdout.write(
        `  ${formatEntrySummary(letter.entry, shorten)}\n  -> ${shorten(formatRejection(letter))} ${origin}\n`,
      )
    }
    if (shown === 0 && !asJson) process.stdout.write('There are no such dead letters.\n')
    return shown === 0 && filter.batchId !== undefined ? EXIT_FAILED : EXIT_DONE
  })
}
