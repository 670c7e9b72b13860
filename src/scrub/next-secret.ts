/**
 * [worker] Where in the text of many lines the next one stands that may hold a secret: what is copied as it stands must not.
 * Never too late; in vain only where a name is one of them and no header, or stands in the midst of a text.
 */
import { AUTH, MAX_NAME_CHARS, isRemovedHeader, namePlaces } from './header-names.js'

const NAME_END = namePlaces()
const BACKSLASH = 92

/** Position at or after `from` of a name that a removed header has, or Infinity. */
export function nextHeader(text: string, from: number): number {
  NAME_END.lastIndex = from
  for (let match = NAME_END.exec(text); match !== null; match = NAME_END.exec(text)) {
    const end = match.index + match[0].length
    let start = end
    while (start > 0 && end - start <= MAX_NAME_CHARS && isNameCode(text.charCodeAt(start - 1))) start -= 1
    if (isSecret(text.slice(start, end))) return match.index
    // What follows a backslash is the letter of an escape: `\nAuthorization: …`.
    if (text.charCodeAt(start - 1) === BACKSLASH && isSecret(text.slice(start + 1, end))) return match.index
  }
  return Infinity
}

function isSecret(name: string): boolean {
  return isRemovedHeader(name) || AUTH.test(name)
}

/** Letters, digits, - and _. */
function isNameCode(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 45 || code === 95
}
