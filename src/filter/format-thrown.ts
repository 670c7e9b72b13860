/** [worker, main] What code of the app has thrown, in a line that can be told. */
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'

const MAX_REASON_CHARS = 300

/** Name and first line of the message. What is thrown may be anything, also an object that refuses to become text. */
export function formatThrown(thrown: unknown): string {
  try {
    const [line = ''] = String(thrown).trimStart().split('\n', 1)
    const text = (line + placeOf(thrown)).replace(CONTROL_CHARACTERS, ' ').trim()
    return text.length <= MAX_REASON_CHARS ? text : `${text.slice(0, MAX_REASON_CHARS - 1)}…`
  } catch {
    return 'something that is no text'
  }
}

/** For a file that does not even parse, V8 puts file and line before the stack. */
function placeOf(thrown: unknown): string {
  if (!(thrown instanceof Error) || thrown.name !== 'SyntaxError') return ''
  const line = /^.+:(\d+)\n/.exec(thrown.stack ?? '')?.[1]
  return line === undefined ? '' : ` (line ${line})`
}
