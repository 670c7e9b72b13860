/** `pino-ingest query`: prints matching entries, or counts of a field's values, and exits. */
import type { EntryPage, FieldValues } from '../../service/query/api-types.js'
import type { StoredEntry } from '../../service/store/stored-record.js'
import { findFieldHint, findHint, formatSince, QUERY_ARGUMENT, readQuery } from '../local/local-query.js'
import { findOrigin, TOKEN_NOTE, URL_FLAG, useLocalService } from '../local/local-service.js'
import type { LocalServiceClient, Query } from '../local/local-service-client.js'
import { createEntryFormat, QUERY_NOTE, UTC_FLAG } from '../local/record-line.js'
import type { EntryFormat } from '../local/record-line.js'
import { EXIT_DONE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import {
  createPaint,
  formatColumns,
  formatEntryCount,
  formatJsonLine,
  formatNumber,
  toPrintable,
} from '../shared/terminal.js'
import { parseInteger } from '../shared/quantities.js'

const DEFAULT_LINES = 100
/** The largest page of the API. */
const MAX_LINES = 1_000

export const queryCommand: Command = {
  examples: [
    ["npx pino-ingest query 'level:error' --since 10m", 'errors of the last ten minutes'],
    ["npx pino-ingest query 'status:>=500' --by route", 'the routes that fail most'],
    ['npx pino-ingest query --json -n 1000 > entries.ndjson', 'for a script, or for pino-ingest dev --load'],
  ],
  usage: ['pino-ingest query [QUERY] [FLAGS]', "pino-ingest query [FLAGS] -- '-service:shop'"],
  flags: {
    ...URL_FLAG,
    since: { value: 'AGE', meaning: 'entries of the last 30s, 10m, 12h or 7d' },
    by: { value: 'FIELD', meaning: 'counts the values of a field instead, such as service, error.type or orderId' },
    lines: {
      short: 'n',
      value: 'NUMBER',
      meaning: `number of entries or values (${DEFAULT_LINES}; 1 to ${MAX_LINES})`,
    },
    ...UTC_FLAG,
  },
  notes: [
    TOKEN_NOTE,
    QUERY_NOTE,
    'With --json, each line is an entry (id, seq, received_at, batch_id, entry), with --by a value (value, count). Hints go to stderr.',
    'Exit codes: 0 answered, also if nothing matches; 1 the local service cannot be reached or refuses the token; 2 invalid query or flags.',
  ],
  ...QUERY_ARGUMENT,
  run,
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const origin = findOrigin(given)
  const q = readQuery(given)
  const lines = parseInteger('lines', texts.get('lines') ?? String(DEFAULT_LINES), 1, MAX_LINES)
  const query: Query = {
    q,
    since: formatSince(texts.get('since')),
    limit: lines,
  }
  const field = texts.get('by')
  const format = switches.has('json') ? undefined : createEntryFormat(createPaint(process.stdout), switches.has('utc'))
  await useLocalService(origin, undefined, async (service) => {
    const isAnswered = await (field === undefined
      ? printEntries(service, query, format)
      : printValues(service, { ...query, field }, format === undefined))
    if (isAnswered) return
    const ofField = field && (await findFieldHint(service, field, (name) => `--by ${name}`))
    const hint = (await findHint(service, q)) ?? ofField
    const nothing = field === undefined ? 'no entry matches' : 'no matching entry has a value of up to 500 characters'
    report(`${nothing} at ${origin}${hint === undefined ? '' : `: ${hint}`}`)
  })
  return EXIT_DONE
}

/** @returns whether anything was printed */
async function printEntries(
  service: LocalServiceClient,
  query: Query,
  format: EntryFormat | undefined,
): Promise<boolean> {
  const page = await service.json<EntryPage<StoredEntry>>('entries', query)
  const items = page.items.toReversed()
  process.stdout.write(items.map(format ?? formatJsonLine).join(''))
  if (page.next !== null) report(`the newest ${formatEntryCount(items.length)}; -n NUMBER prints more`)
  return items.length > 0
}

/** @returns whether anything was printed */
async function printValues(service: LocalServiceClient, query: Query, asJson: boolean): Promise<boolean> {
  const { items, more, counted } = await service.json<FieldValues>('values', query)
  const width = Math.max(...items.map(({ count }) => formatNumber(count).length))
  const rows = items.map(({ value, count }) => [formatNumber(count).padStart(width), toPrintable(value)])
  const text = asJson ? items.map(formatJsonLine) : formatColumns(rows).map((line) => `${line}\n`)
  process.stdout.write(text.join(''))
  if (more) report(`the ${items.length} most frequent values; -n NUMBER prints more`)
  if (counted !== undefined) report(`only the newest ${formatEntryCount(counted)} were counted`)
  return items.length > 0
}

function report(message: string): void {
  process.stderr.write(`pino-ingest query: ${toPrintable(message)}\n`)
}
