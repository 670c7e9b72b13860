/** Parses stored queries (pure). */
import { readLast } from '../view.js'
import type { Filter } from '../view.js'

export interface SavedQuery extends Filter {
  readonly name: string
  /** Whether the browser notifies of new entries that match. */
  readonly notify: boolean
}

/** Ignores invalid data: the storage may be from another version of the page. */
export function parseSavedQueries(text: string | null): readonly SavedQuery[] {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? '[]')
  } catch {
    return []
  }
  return Array.isArray(stored) ? stored.flatMap(readOne) : []
}

function readOne(stored: unknown): SavedQuery[] {
  const { name, q, chart, last, since, until, notify } = (stored ?? {}) as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || typeof q !== 'string') return []
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return [
    {
      name,
      q,
      chart: text(chart),
      last: readLast(last),
      since: text(since),
      until: text(until),
      notify: notify === true,
    },
  ]
}
