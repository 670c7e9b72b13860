/** Formats the messages of `dev` as text and JSON. Pure. */
import type { IngestService, IngestServiceOptions } from '../../service/index.js'
import { DEFAULT_PORT } from '../local/local-service.js'
import { formatEntryCount, toPrintable } from '../shared/terminal.js'

type Started = Pick<IngestService, 'url' | 'origin' | 'port' | 'arrived' | 'token' | 'pageUrl'>

const MAX_PROGRAM_CHARS = 60

export function toStartedData(service: Started, { dbFile }: IngestServiceOptions): object {
  const { url, origin, port, arrived, token, pageUrl } = service
  return { page_url: pageUrl, url, origin, port, token, db: dbFile ?? null, arrived }
}

export function formatStarted(service: Started, { dbFile }: IngestServiceOptions): string {
  const { url, origin, port, token, pageUrl, arrived } = service
  const kept = dbFile === undefined ? 'memory until it ends; --db FILE stores it in a file' : toPrintable(dbFile)
  const count = arrived === 0 ? '' : ` ${formatEntryCount(arrived)} stored.`
  const start = `Open the page:

${pageUrl}

The local service listens on ${url} (Ctrl-C ends it).
Stored in ${kept}.${count}

Set its URL for applications:

  export PINO_INGEST_URL=${url}
`
  if (arrived > 0) return start
  return `${start}
An application:

  import pino from 'pino'
  import { ingestOptions } from 'pino-ingest'

  const logger = pino(ingestOptions({ service: 'checkout' }))
  logger.info({ orderId: 1017, user: { id: 'u-42' } }, 'order placed')
  logger.error(new Error('card declined'), 'payment failed')

Print received entries in another terminal, as lines or as JSON:

  npx pino-ingest tail${port === DEFAULT_PORT ? '' : ` --url ${origin}`} 'level:>=error' --full
  curl -H 'Authorization: Bearer ${token}' '${origin}/local/entries?level=error,fatal'

`
}

export function formatProgram(program: readonly string[]): string {
  const text = program.join(' ')
  return text.length <= MAX_PROGRAM_CHARS ? text : `${text.slice(0, MAX_PROGRAM_CHARS - 1)}…`
}
