/** `pino-ingest tail`: prints entries as the local service receives them. */
import type { Writable } from 'node:stream'
import { QUERY_ARGUMENT, readQuery } from '../local/local-query.js'
import { findOrigin, TOKEN_NOTE, URL_FLAG, useLocalService } from '../local/local-service.js'
import { createEntryFormat, formatFullEntry, QUERY_NOTE, UTC_FLAG } from '../local/record-line.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { createPaint, formatJsonLine, toPrintable } from '../shared/terminal.js'
import { parseInteger } from '../shared/quantities.js'
import { onTerminationSignal } from '../shared/child-process.js'
import { EntryFollower } from './entry-follower.js'
import type { ReceivedEntry } from './entry-follower.js'

const DEFAULT_LINES = 10
const MAX_LINES = 1_000

export const tailCommand: Command = {
  examples: [
    ['npx pino-ingest tail', 'prints the last 10 entries, then new ones'],
    ["npx pino-ingest tail 'level:>=error' --full", 'errors with stack and metadata'],
    ["npx pino-ingest tail 'declined user:u-42 status:>=500'", 'entries that match a query'],
  ],
  usage: ['pino-ingest tail [QUERY] [FLAGS]', "pino-ingest tail [FLAGS] -- '-service:shop'"],
  flags: {
    ...URL_FLAG,
    lines: {
      short: 'n',
      value: 'NUMBER',
      meaning: `number of earlier entries that are printed first (${DEFAULT_LINES}; 0 to ${MAX_LINES})`,
    },
    full: { meaning: 'also prints stack, request, metadata and all other fields below the line' },
    ...UTC_FLAG,
  },
  notes: [
    TOKEN_NOTE,
    QUERY_NOTE,
    'It continues after a restart of the local service. Messages and hints go to stderr; NO_COLOR and FORCE_COLOR are respected.',
    'With --json, each entry is a line of JSON (id, seq, received_at, batch_id, entry), and messages are {"event":"message",…}.',
    'Exit codes: 0 stopped by a signal, or the reader has closed the pipe; 1 the local service cannot be reached or refuses the token; 2 invalid flags.',
  ],
  ...QUERY_ARGUMENT,
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const asJson = switches.has('json')
  const origin = findOrigin(given)
  const query = readQuery(given)
  const lines = parseInteger('lines', texts.get('lines') ?? String(DEFAULT_LINES), 0, MAX_LINES)
  if (asJson && switches.has('full'))
    throw createUsageError('--full cannot be combined with --json, which always prints whole entries')

  const ended = new AbortController()
  let failure: NodeJS.ErrnoException | undefined
  onTerminationSignal(() => ended.abort())
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader has closed the pipe, like `| head`.
    if (error.code !== 'EPIPE') failure = error
    ended.abort()
  })
  const format = asJson ? formatJsonLine : createFormat(given)
  await useLocalService(origin, ended.signal, (service, renewToken) =>
    new EntryFollower({
      service,
      query,
      lines,
      isWhole: asJson || switches.has('full'),
      signal: ended.signal,
      onEntries: (entries) => writeFully(process.stdout, entries.map(format).join('')),
      report: (message) =>
        process.stderr.write(
          asJson ? formatJsonLine({ event: 'message', message }) : `pino-ingest tail: ${toPrintable(message)}\n`,
        ),
      renewToken,
    }).run(),
  )
  if (failure !== undefined)
    throw new CommandError('OUTPUT', `cannot write to stdout (${failure.code ?? failure.message})`, EXIT_FAILED)
  return EXIT_DONE
}

function createFormat({ switches }: Arguments): (received: ReceivedEntry) => string {
  const paint = createPaint(process.stdout)
  const formatLine = createEntryFormat(paint, switches.has('utc'))
  const isFull = switches.has('full')
  return (received) =>
    formatLine(received) + (isFull && 'entry' in received ? formatFullEntry(received.entry, paint) : '')
}

/** Resolves when the text is written or the reader has closed the pipe. Waiting for it limits the memory for unread text. */
function writeFully(out: Writable, text: string): Promise<void> {
  return text === '' ? Promise.resolve() : new Promise((resolve) => void out.write(text, () => resolve()))
}
