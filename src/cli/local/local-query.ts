/** The query of `tail` and `query`: its check, and probable mistakes in it. */
import { IngestServiceError } from '../../service/ingest-service-error.js'
import type { FieldInfo } from '../../service/query/api-types.js'
import { findMistake } from '../../service/query/language/mistakes.js'
import { compileEntryQuery } from '../../service/query/matching/compile-query.js'
import { createUsageError } from '../shared/command.js'
import type { Arguments } from '../shared/command.js'
import { parseDurationMs } from '../shared/quantities.js'
import { measureWidth, toPrintable } from '../shared/terminal.js'
import type { LocalServiceClient } from './local-service-client.js'

const FIELDS = ['level', 'service', 'environment', 'version', 'release', 'tag', 'trace', 'request', 'user']

/** What `tail` and `query` have in common. */
export const QUERY_ARGUMENT = {
  maxPositionals: 1,
  argumentAdvice: 'quote the query',
  flagAdvice: new Map([
    ...FIELDS.map((field) => [field, `use the query '${field}:VALUE'`] as const),
    ['search', 'the query is an argument'],
    ['limit', 'use --lines'],
  ]),
} as const

/** Checked here, since the service's error has no position. @throws CommandError */
export function readQuery({ positionals: [query = ''] }: Pick<Arguments, 'positionals'>): string {
  try {
    compileEntryQuery(query)
    return query
  } catch (error) {
    if (!(error instanceof IngestServiceError)) throw error
    const { message, position = 0, length = 0 } = error
    const reason = message.replace(/^q: /, '')
    throw createUsageError(
      `the query is wrong at character ${position + 1}: ${reason}`,
      markPart(query, position, length),
    )
  }
}

/** @returns the query, and a line with carets below the wrong part */
function markPart(query: string, position: number, length: number): readonly string[] {
  const before = toPrintable(query.slice(0, position))
  const wrong = toPrintable(query.slice(position, position + length))
  const rest = toPrintable(query.slice(position + length))
  return [
    `  ${before}${wrong}${rest}`,
    `  ${' '.repeat(measureWidth(before))}${'^'.repeat(Math.max(1, measureWidth(wrong)))}`,
  ]
}

/** @param age such as `10m` @returns the time this long ago, for the API; empty without an age @throws CommandError */
export function formatSince(age: string | undefined): string {
  return age === undefined ? '' : new Date(Date.now() - parseDurationMs('since', age)).toISOString()
}

/** @returns what can only be a mistake in the query, and its correction */
export async function findHint(service: Pick<LocalServiceClient, 'json'>, query: string): Promise<string | undefined> {
  const { items } = await service.json<{ readonly items: readonly FieldInfo[] }>('fields')
  const mistake = findMistake(query, items)
  return mistake && `${mistake.message}; did you mean: ${mistake.corrected}`
}

/** @returns as `findHint`, for the name of a field; the correction is the name alone, as `format` writes it */
export async function findFieldHint(
  service: Pick<LocalServiceClient, 'json'>,
  field: string,
  format: (name: string) => string,
): Promise<string | undefined> {
  const hint = await findHint(service, `${field}:*`)
  return hint?.replace(/(\S+):\*$/, (_, name: string) => format(name))
}
