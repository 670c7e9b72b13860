/** Parses the parameter `columns` of lists and exports (pure). */
import { createQueryError } from './query-filters.js'

const MAX_COLUMNS = 100

/** Parses names separated by commas and quoted as in CSV. @throws IngestServiceError `QUERY`. */
export function parseColumns(text: string): readonly string[] {
  const names: string[] = []
  const pattern = /("(?:[^"]|"")*"|[^",]*)(,|$)/gy
  for (let ended = false; !ended;) {
    const match = pattern.exec(text)
    const [, name = '', separator] = match ?? []
    if (match === null || name === '""' || name === '')
      throw createQueryError('columns', 'field names, separated by commas and quoted as in CSV', text)
    names.push(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name)
    ended = separator === ''
  }
  const columns = [...new Set(names)]
  if (columns.length > MAX_COLUMNS) throw createQueryError('columns', `at most ${MAX_COLUMNS}`, columns.length)
  return columns
}
