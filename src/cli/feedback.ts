/** `pino-ingest feedback`: what a user says about a logged event. */
import { sendFeedback } from '../app/errors/send-feedback.js'
import { EXIT_DONE, usageError } from './command.js'
import type { Arguments, Command } from './command.js'
import { KEY_NOTE, OPTION_FLAGS, optionsOf } from './option-flags.js'
import { jsonLine, printable } from './printable.js'
import { stdinText } from './stdin-text.js'

export const feedback: Command = {
  summary: 'Sends what a user says about a logged event.',
  usage: ['pino-ingest feedback --event ID --comments TEXT [FLAGS]', 'pino-ingest feedback --event ID --comments - < FILE'],
  flags: {
    event: { value: 'ID', meaning: 'id of the event, as the error page showed it' },
    comments: { value: 'TEXT', meaning: 'what the user says; - reads it from stdin' },
    name: { value: 'NAME', meaning: 'the user\'s name' },
    email: { value: 'ADDRESS', meaning: 'the user\'s e-mail address' },
    url: OPTION_FLAGS.url,
  },
  notes: [
    KEY_NOTE,
    'With --json it prints one line: {"sent": true, "event_id": …}.',
    'Exit codes: 0 sent, 1 not sent, 2 wrong flags or configuration.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const eventId = needed(given, 'event', 'ID')
  const comments = needed(given, 'comments', 'TEXT')
  const said = comments === '-' ? await stdinText() : comments
  if (said === '') throw usageError('--comments is empty: nothing was said')
  const [name, email] = [given.texts.get('name'), given.texts.get('email')]
  await sendFeedback({ event_id: eventId, comments: said, ...(name !== undefined && { name }), ...(email !== undefined && { email }) }, optionsOf(given))
  process.stdout.write(given.switches.has('json') ? jsonLine({ sent: true, event_id: eventId }) : `Sent, for event ${printable(eventId)}.\n`)
  return EXIT_DONE
}

function needed({ texts }: Arguments, flag: string, value: string): string {
  const text = texts.get(flag)
  if (text === undefined || text === '') throw usageError(`feedback needs --${flag} ${value}`)
  return text
}
