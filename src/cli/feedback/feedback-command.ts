/** `pino-ingest feedback`: sends a user's comment on a logged error. */
import { withClient } from '../../client/with-client.js'
import { EXIT_DONE, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { KEY_NOTE, OPTION_FLAGS, parseOptionFlags, readTextFile } from '../shared/option-flags.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'

export const feedbackCommand: Command = {
  examples: [
    ["npx pino-ingest feedback --event 7f3a --comments 'It broke' --name Jane", 'on the error that the user saw'],
    ['npx pino-ingest feedback --event 7f3a --comments - < comments.txt', 'reads the text from a file'],
  ],
  usage: [
    'pino-ingest feedback --event ID --comments TEXT [FLAGS]',
    'pino-ingest feedback --event ID --comments - < FILE',
  ],
  flags: {
    event: { value: 'ID', meaning: 'reference shown on the error page (metadata.event_id)' },
    comments: { value: 'TEXT', meaning: 'the text; - reads it from stdin' },
    name: { value: 'NAME', meaning: "the user's name" },
    email: { value: 'ADDRESS', meaning: "the user's e-mail address" },
    url: OPTION_FLAGS.url,
  },
  notes: [
    KEY_NOTE,
    'With --json, it prints one line: {"sent": true, "event_id": …, "attached": …}; attached is false if the log service knows no entry with this id.',
    'Exit codes: 0 sent, 1 not sent, 2 invalid flags or configuration.',
  ],
  run,
}

async function run(given: Arguments): Promise<number> {
  const eventId = requireFlag(given, 'event', 'ID')
  const argument = requireFlag(given, 'comments', 'TEXT')
  const comments = argument === '-' ? await readTextFile('-', 'comments') : argument
  if (comments === '') throw createUsageError('--comments is empty')
  const [name, email] = [given.texts.get('name'), given.texts.get('email')]
  const feedback = {
    event_id: eventId,
    comments,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
  }
  const { attached } = await withClient(parseOptionFlags(given), (client) => client.sendFeedback(feedback))
  const note = attached === false ? ', but no entry has this id so far' : ''
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine({ sent: true, event_id: eventId, attached })
      : `Sent, for event ${toPrintable(eventId)}${note}.\n`,
  )
  return EXIT_DONE
}

function requireFlag({ texts }: Arguments, flag: string, value: string): string {
  const text = texts.get(flag)
  if (text === undefined) throw createUsageError(`feedback needs --${flag} ${value}`)
  return text
}
