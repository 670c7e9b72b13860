/** Reads what senders put into `metadata.error`: properties of the error, of its causes and members (pure). */
import type { Json, JsonObject, LogEntry } from '../../../protocol/log-entry.js'
import { isContainer } from './tree.js'

const MAX_ERRORS = 100
const MAX_CHARS = 500

const FIELDS = ['name', 'type', 'message', 'stack']
/** Members with other errors, in the order in which senders append their stacks. */
const OTHERS = ['cause', 'aggregateErrors', 'errors']

export interface ErrorParts {
  /** Short properties, for example `code`, `errno` and `syscall`, of the error and then of each error in its stack. */
  readonly properties: readonly JsonObject[]
  /** The metadata without these, and without empty objects. */
  readonly metadata: JsonObject
}

export function listErrorParts({ error, metadata = {} }: LogEntry): ErrorParts {
  const { error: more, ...rest } = metadata
  if (error === undefined || more === undefined || !isObject(more))
    return { properties: [], metadata: omitEmpty(metadata) }
  const errors = listErrors(more).slice(0, MAX_ERRORS)
  const long = Object.entries(more).filter(
    ([key, value]) => !isShort(key, value) && ![...FIELDS, ...OTHERS].includes(key),
  )
  return {
    properties: errors.map((one) =>
      Object.fromEntries(Object.entries(one).filter(([key, value]) => isShort(key, value))),
    ),
    metadata: omitEmpty({ ...rest, error: Object.fromEntries(long) }),
  }
}

function listErrors(error: JsonObject): readonly JsonObject[] {
  return [error, ...OTHERS.flatMap((key) => [error[key] ?? []].flat().filter(isObject).flatMap(listErrors))]
}

function isShort(key: string, value: Json): boolean {
  return !FIELDS.includes(key) && !isContainer(value) && String(value).length <= MAX_CHARS
}

function isObject(value: Json): value is JsonObject {
  return isContainer(value) && !Array.isArray(value)
}

/** Omits members without content, also within others. */
function omitEmpty(value: JsonObject): JsonObject {
  const members = Object.entries(value).map(([key, one]) => [key, isObject(one) ? omitEmpty(one) : one] as const)
  return Object.fromEntries(members.filter(([, one]) => !isContainer(one) || Object.keys(one).length > 0))
}
