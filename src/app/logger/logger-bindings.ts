/** [main] Names of a child logger's bindings. pino stores them as text; the parsed names are cached. */
import { readPinoProperty } from './pino-symbols.js'

interface Bound {
  readonly text: string
  readonly names: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()
const known = new WeakMap<object, Bound>()

/** Names of the fields that the logger adds to each record. */
export function boundNames(logger: object): ReadonlySet<string> {
  const text = readPinoProperty(logger, 'pino.chindings')
  if (typeof text !== 'string') return NONE
  const last = known.get(logger)
  if (last?.text === text) return last.names // `setBindings()` changes the text
  const names = namesIn(text)
  known.set(logger, { text, names })
  return names
}

/** `,"pid":1,"hostname":"a"`, as pino stores it; with the app's own stringifiers it may not be JSON. */
function namesIn(text: string): ReadonlySet<string> {
  try {
    return new Set(Object.keys(JSON.parse(`{${text.slice(1)}}`) as object))
  } catch {
    return NONE
  }
}
