/** The members of an entry's metadata that a row of a list shows (pure). */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { truncate } from './truncate.js'

const MAX_DETAILS = 8
const MAX_NAME = 60
const MAX_TEXT = 80
/** Metadata may be of any size; the rest is not looked at. */
const MAX_VISITED = 100
const MAX_DEPTH = 4
/** The same for every row of a process, or different for every row and of no use to a reader. */
const LEFT_OUT: ReadonlySet<string> = new Set(['pid', 'hostname', 'event_id'])

type Details = Record<string, string | number | boolean>

/** Undefined if there is none. */
export function findDetails(metadata: JsonObject | undefined): Readonly<Details> | undefined {
  if (metadata === undefined) return undefined
  const details: [string, Details[string]][] = []
  let visited = 0
  const visit = (object: JsonObject, prefix: string, depth: number): void => {
    for (const key in object) {
      if (details.length === MAX_DETAILS || ++visited > MAX_VISITED) return
      const name = prefix + key
      const value = object[key] as Json
      if (name.length > MAX_NAME || LEFT_OUT.has(name)) continue
      if (typeof value === 'string') details.push([name, truncate(value, MAX_TEXT)])
      else if (typeof value === 'number' || typeof value === 'boolean') details.push([name, value])
      else if (value !== null && !Array.isArray(value) && depth < MAX_DEPTH) visit(value, `${name}.`, depth + 1)
    }
  }
  visit(metadata, '', 1)
  return details.length === 0 ? undefined : Object.fromEntries(details)
}
