/** Text of others on a terminal: what was logged, or what a service replied, must not steer it or forge lines. */
import { CONTROL_CHARACTERS } from '../../shared/control-characters.js'

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line, in which what a terminal would act on is shown as an escape. */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (run) =>
    Array.from(run, (character) => SHORT[character] ?? escape(character)).join(''),
  )
}

/** A value as one line of JSON; what `JSON.stringify` leaves of such characters can only stand in its texts. */
export function formatJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(CONTROL_CHARACTERS, (run) => Array.from(run, escape).join(''))}\n`
}

function escape(character: string): string {
  // UTF-16 units, as JSON has them: a character beyond U+FFFF has two.
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
}
