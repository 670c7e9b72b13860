/** Selects the metadata that a row of a list shows (pure). */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { truncate } from './truncate.js'

const MAX_DETAILS = 8
const MAX_NAME = 60
const MAX_TEXT = 80
/** Limits the members to inspect, because metadata can have any size. */
const MAX_VISITED = 100
const MAX_DEPTH = 4
/** Fields without information for a reader: equal in all rows of a process, or different in every row. */
const LEFT_OUT: ReadonlySet<string> = new Set(['pid', 'hostname', 'event_id', 'req.remotePort', 'req.remoteAddress'])

type Details = Record<string, string | number | boolean>

/** @param paths texts that the row shows otherwise @returns undefined if there are no details */
export function findDetails(
  metadata: JsonObject | undefined,
  paths: readonly (string | undefined)[] = [],
): Readonly<Details> | undefined {
  if (metadata === undefined) return undefined
  const details: [string, Details[string]][] = []
  let visited = 0
  const visit = (object: JsonObject, prefix: string, depth: number): void => {
    for (const key in object) {
      if (details.length === MAX_DETAILS || ++visited > MAX_VISITED) return
      const name = prefix + key
      const value = object[key] as Json
      if (name.length > MAX_NAME || LEFT_OUT.has(name) || paths.includes(value as string)) continue
      if (typeof value === 'string') details.push([name, truncate(value, MAX_TEXT)])
      else if (typeof value === 'number' || typeof value === 'boolean') details.push([name, value])
      else if (value !== null && !Array.isArray(value) && depth < MAX_DEPTH) visit(value, `${name}.`, depth + 1)
    }
  }
  visit(metadata, '', 1)
  return details.length === 0 ? undefined : Object.fromEntries(details)
}
