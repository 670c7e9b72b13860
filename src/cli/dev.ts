/** `pino-ingest dev`: the local service in a terminal. */
import { LOCAL_URL } from '../options.js'
import { createIngestService, IngestServiceError } from '../service/index.js'
import type { IngestService, IngestServiceOptions, StoredEntry } from '../service/index.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, usageError } from './command.js'
import type { Arguments, Command } from './command.js'
import { liveLine } from './live-line.js'
import { jsonLine, printable } from './printable.js'
import { onSignals } from './signals.js'

/** The transport's own default outside production. */
const DEFAULT_PORT = 4319

export const dev: Command = {
  summary: 'Starts the local service on loopback, for development: takes any key, checks strictly, shows what arrives.',
  usage: ['pino-ingest dev [FLAGS]'],
  flags: {
    port: { value: 'NUMBER', meaning: `port to listen on (${DEFAULT_PORT}); 0 takes a free one` },
    host: { value: 'HOST', meaning: '127.0.0.1 (default), ::1 or localhost; no other, since it must not be reachable from outside' },
    db: { value: 'FILE', meaning: 'keeps what arrives in this file, and begins with what it holds' },
    store: { value: 'KIND', meaning: 'memory (default) or sqlite, which needs Node 22.13 or later' },
    quiet: { short: 'q', meaning: 'shows no entries' },
  },
  notes: [
    'It shows each entry on a line: time (UTC), level, service, message. Ctrl-C ends it.',
    'With --json it prints one line of JSON when it listens (url, origin, port, store, db, arrived, queries), and no entries.',
    'Exit codes: 0 ended by a signal, 1 the port or the file cannot be used, 2 wrong flags.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

async function run(given: Arguments): Promise<number> {
  const asJson = given.switches.has('json')
  const options = optionsOf(given)
  const ended = new Promise<void>((resolve) => onSignals(() => resolve()))
  const service = await start({
    ...options,
    onProblem: (message) => process.stderr.write(`pino-ingest dev: ${printable(message)}\n`),
    ...(!asJson && !given.switches.has('quiet') && { onEntries: show }),
  })
  process.stdout.write(asJson ? jsonLine(startedData(service, options)) : startedText(service, options))
  await ended
  await service.close()
  return EXIT_DONE
}

function optionsOf({ texts }: Arguments): IngestServiceOptions {
  const port = texts.get('port') ?? String(DEFAULT_PORT)
  const store = texts.get('store') ?? 'memory'
  const dbFile = texts.get('db')
  const host = texts.get('host')
  if (!/^\d{1,5}$/.test(port)) throw usageError(`--port must be an integer from 0 to 65535, got ${JSON.stringify(port)}`)
  if (store !== 'memory' && store !== 'sqlite') throw usageError(`--store must be memory or sqlite, got ${JSON.stringify(store)}`)
  return {
    port: Number(port),
    store,
    ...(dbFile !== undefined && { dbFile }),
    // The service checks it.
    ...(host !== undefined && { host: host as '127.0.0.1' }),
  }
}

async function start(options: IngestServiceOptions): Promise<IngestService> {
  try {
    return await createIngestService(options)
  } catch (error) {
    if (!(error instanceof IngestServiceError)) throw error
    throw new CommandError(error.code, error.message, error.code === 'OPTION' ? EXIT_USAGE : EXIT_FAILED)
  }
}

/** A terminal that is slower than the entries come must not cost the memory. */
const MAX_UNREAD_BYTES = 1 << 20

function show(entries: readonly StoredEntry[]): void {
  if (process.stdout.writableLength > MAX_UNREAD_BYTES) return
  process.stdout.write(entries.map(liveLine).join(''))
}

function queriesOf({ origin }: IngestService): Readonly<Record<string, string>> {
  return {
    entries: `${origin}/local/entries`,
    errors: `${origin}/local/entries?level=error,fatal`,
    search: `${origin}/local/entries?q=declined`,
    counts: `${origin}/local/counts`,
    rejected: `${origin}/local/rejected`,
    requests: `${origin}/local/requests`,
  }
}

function startedData(service: IngestService, { store, dbFile }: IngestServiceOptions): object {
  const { url, origin, port, arrived } = service
  return { url, origin, port, store, db: dbFile ?? null, arrived, queries: queriesOf(service) }
}

function startedText(service: IngestService, { dbFile }: IngestServiceOptions): string {
  const target = service.url === LOCAL_URL ? '' : `url: '${service.url}', apiKey: 'any', `
  const queries = Object.entries(queriesOf(service)).map(([name, url]) => `  ${name.padEnd(8)}  ${url}`)
  const kept = dbFile === undefined
    ? 'Kept in memory until it ends; --db FILE keeps it for longer.'
    : `Kept in ${printable(dbFile)}, which holds ${service.arrived} ${service.arrived === 1 ? 'entry' : 'entries'}.`
  return `The local service listens on ${service.url} (Ctrl-C ends it)

Connect an application:

  import pino from 'pino'

  const logger = pino({ transport: { target: 'pino-ingest', options: { ${target}service: 'checkout' } } })
  logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')
  logger.error(new Error('card declined'), 'payment failed')

Look at what arrived, as JSON:

${queries.join('\n')}

${kept}
`
}
