/**
 * [worker] Redacts e-mail addresses in text. Searches for the @ (in a URL also `%40`) and reads from there in both
 * directions.
 */
import { createCharSet, isNonAsciiLetter, findRunStart } from './char-set.js'

/** RFC 5321, section 4.5.3.1: octets of the part before the @, and of the domain. */
const MAX_LOCAL_CHARS = 64
const MAX_DOMAIN_CHARS = 255
/** The characters of RFC 5322 that addresses use in practice. An apostrophe or a slash is more often a delimiter. */
const LOCAL_CHARS = createCharSet(/[\w.+%-]/g, isNonAsciiLetter)
const LABEL_CHARS = createCharSet(/[A-Za-z0-9-]/g, isNonAsciiLetter)
const LETTERS = createCharSet(/[A-Za-z]/g, isNonAsciiLetter)
const WORD_CHARS = createCharSet(/\w/g, isNonAsciiLetter)
const DOT = 46

export function redactEmails(text: string, by: string): string {
  let plain = text.indexOf('@')
  let encoded = text.indexOf('%40')
  let clean = ''
  let copied = 0
  let least = 0
  while (plain !== -1 || encoded !== -1) {
    const isEncoded = plain === -1 || (encoded !== -1 && encoded < plain)
    const at = isEncoded ? encoded : plain
    const start = findRunStart(text, at, Math.max(least, at - MAX_LOCAL_CHARS), LOCAL_CHARS)
    least = at + (isEncoded ? 3 : 1)
    const end = start === at ? -1 : domainEnd(text, least)
    if (end !== -1) {
      clean += text.slice(copied, start) + by
      copied = least = end
    }
    if (plain !== -1 && plain < least) plain = text.indexOf('@', least)
    if (encoded !== -1 && encoded < least) encoded = text.indexOf('%40', least)
  }
  return copied === 0 ? text : clean + text.slice(copied)
}

/**
 * End of the longest domain that starts here, or -1. A domain is labels between dots; the last label has letters only.
 */
function domainEnd(text: string, from: number): number {
  const most = Math.min(text.length, from + MAX_DOMAIN_CHARS)
  let found = -1
  let label = from
  let isOfLetters = true
  for (let at = from; at <= most; at += 1) {
    const code = text.charCodeAt(at) // NaN after the end
    if (LABEL_CHARS.has(code)) {
      isOfLetters &&= LETTERS.has(code)
      continue
    }
    if (at === label) break
    const isLast = isOfLetters ? at - label > 1 : text.startsWith('xn--', label)
    if (label > from && isLast && !WORD_CHARS.has(code)) found = at
    if (code !== DOT) break
    label = at + 1
    isOfLetters = true
  }
  return found
}
