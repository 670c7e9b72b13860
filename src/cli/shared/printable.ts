/** Escapes control characters: logged text and replies must not control the terminal or forge lines. */
import { CONTROL_CHARACTERS } from '../../shared/control-characters.js'

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Returns one line, with control characters escaped. */
export function toPrintable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (run) =>
    Array.from(run, (character) => SHORT[character] ?? escape(character)).join(''),
  )
}

/** Returns one line of JSON. Control characters that `JSON.stringify` does not escape can only be within strings. */
export function formatJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(CONTROL_CHARACTERS, (run) => Array.from(run, escape).join(''))}\n`
}

function escape(character: string): string {
  // JSON escapes UTF-16 units. A character above U+FFFF has two.
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
}
