/** [worker] Quotes in a text that may itself be quoted: each level of JSON within JSON adds backslashes before them. */
import { createCharSet, findRunStart } from './char-set.js'

/** Maximum number of backslashes read before a quote. */
const MAX_DEPTH = 64
const BACKSLASHES = createCharSet(/\\/g)
const BLANKS = String.raw`(?:\\{0,64}[ \t\r\n]|\\{1,64}[nrt])*`
/** A quote that closes the text in which the name is and does not open the name's value: `"/x?token=","b"`. */
const TEXT_END = new RegExp(
  String.raw`\\{0,64}["'${'`'}](?=${BLANKS}(?:$|:|\/?>|[)}\]](?:[\0- ,;)}\]"'${'`'}\\]|$)|,${BLANKS}(?:$|\\{0,64}["'${'`'}]|[[{])))`,
  'y',
)

export interface Quote {
  /** Number of backslashes before it: 0 in plain text, 1 in JSON within a string, 3 one level deeper. */
  readonly depth: number
  readonly char: string
}

export function findQuoteBefore(text: string, at: number): Quote | undefined {
  return quoteOf(text[at - 1], at - 1 - findBackslashesBefore(text, at - 1, at - 1 - MAX_DEPTH))
}

/** The quote at `at`, or the quote escaped by the backslashes at `at`. */
export function findQuoteAt(text: string, at: number): Quote | undefined {
  let end = at
  while (end - at < MAX_DEPTH && text[end] === '\\') end += 1
  return quoteOf(text[end], end - at)
}

/** As `findQuoteAt`, for the quote of a value after a name without quotes. */
export function findOpeningQuote(text: string, at: number): Quote | undefined {
  TEXT_END.lastIndex = at
  return TEXT_END.test(text) ? undefined : findQuoteAt(text, at)
}

/**
 * Position of the closing quote or of its first backslash; `end` if there is none. A quote with more backslashes than
 * the opening one is part of the value; one with fewer closes the enclosing text as well.
 */
export function findQuoteEnd(text: string, from: number, { depth, char }: Quote, end: number): number {
  for (let at = text.indexOf(char, from); at !== -1 && at < end; at = text.indexOf(char, at + 1)) {
    const first = findBackslashesBefore(text, at, from)
    if (at - first <= depth) return first
  }
  return end
}

/** Start of the run of backslashes that ends before `at`. */
export function findBackslashesBefore(text: string, at: number, least: number): number {
  return findRunStart(text, at, Math.max(least, 0), BACKSLASHES)
}

function quoteOf(char: string | undefined, depth: number): Quote | undefined {
  return char === '"' || char === "'" || char === '`' ? { depth, char } : undefined
}
