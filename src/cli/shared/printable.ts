/** Escapes control characters: logged text and replies must not control the terminal or forge lines. */
import { CONTROL_CHARACTERS } from '../../shared/control-characters.js'

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line, with control characters as escapes. */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (run) =>
    Array.from(run, (character) => SHORT[character] ?? escape(character)).join(''),
  )
}

/** One line of JSON. Control characters that `JSON.stringify` leaves can only be within strings. */
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
