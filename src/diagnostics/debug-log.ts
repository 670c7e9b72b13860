/** The lines of `logTo: 'debug'`, from which a report of a problem can be made. */
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'
import { writeToStderr } from './reporter.js'

/** Writes one line. Its text must have no secret and nothing of an entry or of a reply's body. */
export type DebugLog = (line: string) => void

/** @returns undefined while it is off, so callers that use `?.` build no text */
export function createDebugLog(
  isDebug: boolean | undefined,
  mask: (text: string) => string = (text) => text,
  write: (line: string) => void = writeToStderr,
): DebugLog | undefined {
  if (isDebug !== true) return undefined
  return (line) =>
    write(
      `pino-ingest: debug ${new Date().toISOString()} ${process.pid} ${mask(line).replace(CONTROL_CHARACTERS, ' ')}\n`,
    )
}
