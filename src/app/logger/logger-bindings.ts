/** [main] What a child logger is bound to: pino has it as text already, and offers a way to parse it at each call only. */
import { readPinoProperty } from './pino-symbols.js'

interface Bound {
  readonly text: string
  readonly names: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()
const known = new WeakMap<object, Bound>()

/** Names of what the logger puts on each of its records. */
export function boundNames(logger: object): ReadonlySet<string> {
  const text = readPinoProperty(logger, 'pino.chindings')
  if (typeof text !== 'string') return NONE
  const last = known.get(logger)
  if (last?.text === text) return last.names // `setBindings()` makes another
  const names = namesIn(text)
  known.set(logger, { text, names })
  return names
}

/** `,"pid":1,"hostname":"a"`, as pino keeps it; with the app's own stringifiers it may be no JSON. */
function namesIn(text: string): ReadonlySet<string> {
  try {
    return new Set(Object.keys(JSON.parse(`{${text.slice(1)}}`) as object))
  } catch {
    return NONE
  }
}
