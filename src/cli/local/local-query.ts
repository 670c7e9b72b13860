/** Compiles the arguments of `tail` and `query` to the text of one query, checks it, and finds probable mistakes in it. */
import { IngestServiceError } from '../../service/ingest-service-error.js'
import type { FieldInfo } from '../../service/query/api-types.js'
import { findMistake } from '../../service/query/language/mistakes.js'
import { formatTerm, formatValue } from '../../service/query/language/printer.js'
import { compileEntryQuery } from '../../service/query/matching/compile-query.js'
import { createUsageError } from '../shared/command.js'
import type { Arguments } from '../shared/command.js'
import { parseDurationMs } from '../shared/quantities.js'
import { toPrintable } from '../shared/terminal.js'
import type { LocalServiceClient } from './local-service-client.js'

/** @param search a query @returns it, restricted by the flags `level` and `service` @throws CommandError */
export function compileQuery({ texts }: Pick<Arguments, 'texts'>, search = ''): string {
  const [levels, service] = [texts.get('level'), texts.get('service')]
  const terms = [
    ...(levels === undefined ? [] : [`level:(${levels.split(',').map(formatValue).join(',')})`]),
    ...(service === undefined ? [] : [formatTerm('service', service)]),
  ]
  checkQuery(search)
  const query = terms.length === 0 || search.trim() === '' ? search : `(${search})`
  const compiled = [...terms, query].join(' ').trim()
  checkQuery(compiled)
  return compiled
}

/** Checked here, since the service's error has no position. @throws CommandError */
function checkQuery(query: string): void {
  try {
    compileEntryQuery(query)
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
    `  ${' '.repeat([...before].length)}${'^'.repeat(Math.max(1, [...wrong].length))}`,
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
