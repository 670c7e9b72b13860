/** Text of others on a terminal: what was logged, or what a service replied, must not steer it or forge lines. */

/** C0, DEL and C1, the line separators, and the marks that reorder text (Unicode UAX 9). */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line, in which what a terminal would act on is shown as an escape. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => SHORT[character] ?? escape(character))
}

/** A value as one line of JSON; what `JSON.stringify` leaves of such characters can only stand in its texts. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNPRINTABLE, escape)}\n`
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
