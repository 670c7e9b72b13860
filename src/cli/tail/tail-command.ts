/** `pino-ingest tail`: prints entries as the local service receives them. */
import type { Writable } from 'node:stream'
import { TOKEN_VARIABLE } from '../../options/dev-token.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { parseInteger } from '../shared/quantities.js'
import { probePort } from '../shared/port-probe.js'
import { requireToken } from '../shared/token-store.js'
import type { FoundToken } from '../shared/token-store.js'
import { formatEntryLine } from '../shared/record-line.js'
import { createPaint } from '../shared/paint.js'
import type { Paint } from '../shared/paint.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { onTerminationSignal } from '../shared/termination-signals.js'
import { EntryFollower } from './entry-follower.js'
import type { ReceivedEntry } from './entry-follower.js'
import { DEFAULT_ORIGIN, FILTER_FLAGS, parseFilters, parseOrigin } from './tail-filters.js'
import { formatFullEntry } from './full-entry.js'
import { AnswerError, LocalServiceClient } from './local-service-client.js'

const DEFAULT_LINES = 10
const MAX_LINES = 1_000

export const tailCommand: Command = {
  summary: 'Prints entries as the local service receives them, until Ctrl-C.',
  examples: [
    ['npx pino-ingest tail', 'prints the last 10 entries, then new ones'],
    ['npx pino-ingest tail --level error,fatal --full', 'errors with stack and metadata'],
    ["npx pino-ingest tail --search 'declined user:u-42 status:>=500'", 'entries that match a query'],
  ],
  usage: ['pino-ingest tail [FLAGS]'],
  flags: {
    url: { value: 'URL', meaning: `address of the service (${DEFAULT_ORIGIN})` },
    ...FILTER_FLAGS,
    lines: {
      short: 'n',
      value: 'NUMBER',
      meaning: `number of earlier entries that are printed first (${DEFAULT_LINES}; 0 to ${MAX_LINES})`,
    },
    full: { meaning: 'also prints stack, request, metadata and all other fields below the line' },
  },
  notes: [
    `It reads the token that pino-ingest dev stored; ${TOKEN_VARIABLE} overrides it.`,
    `A query has words, "a phrase", /a regular expression/, field:value, field:>=5, -excluded, OR and brackets; docs/local-service.md
describes it.`,
    `All filters must match. Times are UTC. Output to a terminal is colored unless NO_COLOR is set; FORCE_COLOR colors other output. It
continues after a restart of the service.`,
    `With --json, each entry is a line of JSON (id, seq, received_at, batch_id, entry), and stderr has lines {"event":"message",…}.`,
    'Exit codes: 0 stopped by a signal, or the reader has closed the pipe; 1 the service cannot be reached or refuses the token; 2 invalid flags.',
  ],
  jsonFailuresTo: 'stderr',
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const asJson = switches.has('json')
  const origin = parseOrigin(texts.get('url') ?? DEFAULT_ORIGIN)
  const isWhole = asJson || switches.has('full')
  const filters = parseFilters(given, isWhole)
  const lines = parseInteger('lines', texts.get('lines') ?? String(DEFAULT_LINES), 0, MAX_LINES)
  if (asJson && switches.has('full'))
    throw createUsageError('--full cannot be combined with --json, which always prints whole entries')
  let access = await findAccess(origin)

  const ended = new AbortController()
  let failure: NodeJS.ErrnoException | undefined
  onTerminationSignal(() => ended.abort())
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader has closed the pipe, like `| head`.
    if (error.code !== 'EPIPE') failure = error
    ended.abort()
  })
  const service = new LocalServiceClient(origin, () => access.token, ended.signal)
  const textOf = asJson ? formatJsonLine : createFormatter(createPaint(process.stdout), switches.has('full'))
  const feed = new EntryFollower({
    service,
    filters,
    lines,
    isWhole,
    signal: ended.signal,
    onEntries: (entries) => writeFully(process.stdout, entries.map(textOf).join('')),
    report: (message) =>
      process.stderr.write(
        asJson ? formatJsonLine({ event: 'message', message }) : `pino-ingest tail: ${toPrintable(message)}\n`,
      ),
    renewToken: () => {
      const { token } = access
      access = requireToken(process.env)
      return access.token !== token
    },
  })
  try {
    await feed.run()
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('UNAVAILABLE', describeFailure(error, origin, access.from), EXIT_FAILED)
  } finally {
    service.close()
  }
  if (failure !== undefined)
    throw new CommandError('OUTPUT', `cannot write to stdout (${failure.code ?? failure.message})`, EXIT_FAILED)
  return EXIT_DONE
}

/** If there is no token and no listener, the service was probably never started. The message then says how to start it. */
async function findAccess(origin: string): Promise<FoundToken> {
  try {
    return requireToken(process.env)
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'TOKEN' || (await probePort(origin)) !== 'none') throw error
    throw new CommandError('UNAVAILABLE', formatNothingListens(origin), EXIT_FAILED)
  }
}

function formatNothingListens(origin: string): string {
  return `nothing listens at ${origin}: start the local service with npx pino-ingest dev, or set another address with --url`
}

function createFormatter(paint: Paint, isFull: boolean): (arrived: ReceivedEntry) => string {
  return (arrived) => {
    if (!('entry' in arrived)) return formatEntryLine(arrived, paint)
    return formatEntryLine(arrived.entry, paint) + (isFull ? formatFullEntry(arrived.entry, paint) : '')
  }
}

/** Resolves when the text is written or the reader has closed the pipe. Waiting for it limits the memory for unread text. */
function writeFully(out: Writable, text: string): Promise<void> {
  return text === '' ? Promise.resolve() : new Promise((resolve) => void out.write(text, () => resolve()))
}

function describeFailure(error: unknown, origin: string, tokenFrom: string): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (!(error instanceof AnswerError)) {
    return code === 'ECONNREFUSED'
      ? formatNothingListens(origin)
      : `${origin} does not respond (${code ?? message}); set another address with --url`
  }
  switch (error.problem) {
    case 'token':
      return `the service at ${origin} does not have the token from ${tokenFrom}; if it is your pino-ingest dev and not another user's, set ${TOKEN_VARIABLE} to the token in the page address that it printed`
    case 'foreign':
      return `the listener at ${origin} is not pino-ingest dev (${message}); set another address with --url`
    case 'busy':
    case 'refused':
      return `${origin} replied: ${message}`
  }
}
