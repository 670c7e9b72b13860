/** What `dev` says when it has started, as text and as data. Pure. */
import { LOCAL_URL } from '../../options/resolve-options.js'
import type { IngestService, IngestServiceOptions } from '../../service/index.js'
import { printable } from '../shared/printable.js'

type Started = Pick<IngestService, 'url' | 'origin' | 'port' | 'arrived' | 'token' | 'pageUrl'>

const MAX_PROGRAM_CHARS = 60

/** The token is in them, so that a browser opens them. */
function toQueries({ origin, token }: Started): Readonly<Record<string, string>> {
  return {
    entries: `${origin}/local/entries?token=${token}`,
    errors: `${origin}/local/entries?level=error,fatal&token=${token}`,
    search: `${origin}/local/entries?q=declined&token=${token}`,
    counts: `${origin}/local/counts?token=${token}`,
    rejected: `${origin}/local/rejected?token=${token}`,
    requests: `${origin}/local/requests?token=${token}`,
  }
}

export function toStartedData(service: Started, { dbFile }: IngestServiceOptions): object {
  const { url, origin, port, arrived, token, pageUrl } = service
  return {
    page_url: pageUrl,
    url,
    origin,
    port,
    token,
    db: dbFile ?? null,
    arrived,
    queries: toQueries(service),
  }
}

/** @param isTokenFound whether the user's applications find the token by themselves */
export function formatStarted(service: Started, { dbFile }: IngestServiceOptions, isTokenFound: boolean): string {
  const { url, origin, token, pageUrl, arrived } = service
  const kept =
    dbFile === undefined
      ? 'Kept in memory until it ends; --db FILE keeps it for longer.'
      : `Kept in ${printable(dbFile)}, which holds ${arrived} ${arrived === 1 ? 'entry' : 'entries'}.`
  return `See what arrives: ${pageUrl}

The local service listens on ${url} (Ctrl-C ends it)

Connect an application:

  import pino from 'pino'

  const logger = pino({ transport: { target: 'pino-ingest', options: { service: 'checkout' } } })
  logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')
  logger.error(new Error('card declined'), 'payment failed')

and start it with what leads here:

  ${formatProgramCommand(url, 'node app.js', isTokenFound)}

What arrives, in another terminal, as lines and as JSON:

  npx pino-ingest tail${isDefault(url) ? '' : ` --url ${origin}`} --level error,fatal --full
  curl -H 'Authorization: Bearer ${token}' '${origin}/local/entries?level=error,fatal'

${kept}
`
}

/** How a program is started that logs to a service that is running already. */
export function formatProgramCommand(url: string, program: string, isTokenFound = true): string {
  return isDefault(url) && isTokenFound ? program : `PINO_INGEST_URL=${url} PINO_INGEST_API_KEY=any ${program}`
}

/** Where another local service has the port. */
export function formatPortTaken(origin: string, program: readonly string[] | undefined): string {
  const taken = `${origin} is already in use: another pino-ingest dev listens there`
  return program === undefined
    ? `${taken}; its page is open to you by the address it printed. --port 0 takes a free port`
    : `${taken}; it is running already: start ${formatProgramCommand(`${origin}/api/v1`, formatProgram(program))} by itself, or take another port with --port 0`
}

/** Where the transport sends by itself. */
function isDefault(url: string): boolean {
  return url === LOCAL_URL
}

/** For the lines that name it. */
export function formatProgram(program: readonly string[]): string {
  const text = program.join(' ')
  return text.length <= MAX_PROGRAM_CHARS ? text : `${text.slice(0, MAX_PROGRAM_CHARS - 1)}…`
}
