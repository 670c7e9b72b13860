/** Formats the messages of `dev` as text and JSON. Pure. */
import { LOCAL_URL } from '../../options/resolve-options.js'
import type { IngestService, IngestServiceOptions } from '../../service/index.js'
import { formatEntryCount, toPrintable } from '../shared/terminal.js'

type Started = Pick<IngestService, 'url' | 'origin' | 'port' | 'arrived' | 'token' | 'pageUrl'>

const MAX_PROGRAM_CHARS = 60

export function toStartedData(service: Started, { dbFile }: IngestServiceOptions): object {
  const { url, origin, port, arrived, token, pageUrl } = service
  return { page_url: pageUrl, url, origin, port, token, db: dbFile ?? null, arrived }
}

/** @param isTokenFound whether applications of this user find the token without the variable */
export function formatStarted(service: Started, { dbFile }: IngestServiceOptions, isTokenFound: boolean): string {
  const { url, origin, token, pageUrl, arrived } = service
  const kept = dbFile === undefined ? 'memory until it ends; --db FILE stores it in a file' : toPrintable(dbFile)
  const count = arrived === 0 ? '' : ` ${formatEntryCount(arrived)} stored.`
  const start = `Open the page:

${pageUrl}

The local service listens on ${url} (Ctrl-C ends it).
Stored in ${kept}.${count}
`
  if (arrived > 0) return start
  return `${start}
Connect an application:

  import pino from 'pino'
  import { ingestOptions } from 'pino-ingest'

  const logger = pino(ingestOptions({ service: 'checkout' }))
  logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')
  logger.error(new Error('card declined'), 'payment failed')

and start it:

  ${formatProgramCommand(url, 'node app.mjs', isTokenFound)}

Print received entries in another terminal, as lines or as JSON:

  npx pino-ingest tail${isDefault(url) ? '' : ` --url ${origin}`} --level error,fatal --full
  curl -H 'Authorization: Bearer ${token}' '${origin}/local/entries?level=error,fatal'

`
}

/** The command line of a program that logs to a running service. */
export function formatProgramCommand(url: string, program: string, isTokenFound = true): string {
  return isDefault(url) && isTokenFound ? program : `PINO_INGEST_URL=${url} PINO_INGEST_API_KEY=any ${program}`
}

/** For a port that another local service uses. */
export function formatPortTaken(origin: string, program: readonly string[] | undefined): string {
  const taken = `${origin} is already in use: another pino-ingest dev listens there`
  return program === undefined
    ? `${taken}; open the page address that it printed, or use --port 0 for a free port`
    : `${taken}; start ${formatProgramCommand(`${origin}/api/v1`, formatProgram(program))} without dev, or use --port 0 for a free port`
}

/** Whether the transport sends to this URL by default. */
function isDefault(url: string): boolean {
  return url === LOCAL_URL
}

/** The program for messages, shortened. */
export function formatProgram(program: readonly string[]): string {
  const text = program.join(' ')
  return text.length <= MAX_PROGRAM_CHARS ? text : `${text.slice(0, MAX_PROGRAM_CHARS - 1)}…`
}
