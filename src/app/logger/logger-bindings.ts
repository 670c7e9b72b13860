/** [main] A child logger's bindings. pino stores them as text; the parsed fields are cached. */
import { readPinoProperty } from './pino-symbols.js'

type Fields = ReadonlyMap<string, unknown>

interface Bound {
  readonly text: string
  readonly fields: Fields
}

const NONE: Fields = new Map()
const known = new WeakMap<object, Bound>()

/** The fields that the logger adds to each record. */
export function readBoundFields(logger: object): Fields {
  const text = readPinoProperty(logger, 'pino.chindings')
  if (typeof text !== 'string') return NONE
  const last = known.get(logger)
  if (last?.text === text) return last.fields // `setBindings()` changes the text
  const fields = fieldsIn(text)
  known.set(logger, { text, fields })
  return fields
}

/** Parses pino's stored text, `,"pid":1,"hostname":"a"`. With the application's own stringifiers it may not be JSON. */
function fieldsIn(text: string): Fields {
  try {
    return new Map(Object.entries(JSON.parse(`{${text.slice(1)}}`) as object))
  } catch {
    return NONE
  }
}
