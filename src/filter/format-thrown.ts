/** [worker, main] Formats a value thrown by application code as one line. */
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'

const MAX_REASON_CHARS = 300

/** Error name and first line of the message. Any value may be thrown, including an object that cannot be converted to a string. */
export function formatThrown(thrown: unknown): string {
  try {
    const [line = ''] = String(thrown).trimStart().split('\n', 1)
    const text = (line + formatLine(thrown)).replace(CONTROL_CHARACTERS, ' ').trim()
    return text.length <= MAX_REASON_CHARS ? text : `${text.slice(0, MAX_REASON_CHARS - 1)}…`
  } catch {
    return 'a value that cannot be converted to a string'
  }
}

/** For a syntax error, V8 puts file and line before the stack. */
function formatLine(thrown: unknown): string {
  if (!(thrown instanceof Error) || thrown.name !== 'SyntaxError') return ''
  const line = /^.+:(\d+)\n/.exec(thrown.stack ?? '')?.[1]
  return line === undefined ? '' : ` (line ${line})`
}
