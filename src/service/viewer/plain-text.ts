/** Makes logged text safe to display: removes terminal colors, and shows invisible characters as marks (pure). */

/** Escape sequences for colors and styles (ECMA-48, 8.3.117), which only terminals interpret. */
// oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
const STYLES = /(?:\u001B\[|\u009B)[\d;:]*m/g

/**
 * Control characters, which fonts draw as a box or not at all; bidirectional overrides and isolates, which reorder the text around
 * them; other invisible characters. U+200C and U+200D are excluded, because languages and emojis need them.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are searched for
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/** A quick check that spares most texts the replacement. */
// oxlint-disable-next-line no-control-regex -- as above
const MAY_HAVE_INVISIBLE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u180E\u200B-\u200F\u2028-\u206F\uDB40\uFEFF\uFFF9-\uFFFB]/

/** Removes terminal colors, and replaces each invisible character by a mark: `‹U+202E›`. */
export function toPlainText(text: string): string {
  if (!MAY_HAVE_INVISIBLE.test(text)) return text
  return text.replace(STYLES, '').replace(INVISIBLE, (character) => `‹U+${codeOf(character)}›`)
}

/** Escapes invisible characters in JSON; the result is JSON with the same values. */
export function toPlainJson(json: string): string {
  if (!MAY_HAVE_INVISIBLE.test(json)) return json
  return json.replace(INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
