/**
 * [worker] An expression of the user's, over a text of any length, in time that grows with the text.
 *
 * An expression that was found harmless may still read far from many places (`key=.*;` over `key=key=key=…`), which costs the
 * square of the length. So a long text is read in windows, and the square is that of a window.
 */

const WINDOW_CHARS = 8_192
/** Of the next window, read again: a match of at most this length is found wherever it begins. */
const OVERLAP_CHARS = 4_096
/** What an expression may look at beside its match. */
const MARGIN_CHARS = 256

/**
 * Replaces every match. Of a text over 8,192 characters, a match is found for certain up to 3,840 characters; a longer one if
 * the first 3,840 of it are a match too. What was put in place of a secret before is not replaced again.
 *
 * @param regex global, and never matches empty text.
 */
export function replaceInWindows(text: string, regex: RegExp, by: string): string {
  let clean = ''
  let copied = 0
  let from = 0
  while (from < text.length) {
    const found = text.length <= WINDOW_CHARS ? execFrom(text, regex, from) : execInWindows(text, regex, from)
    if (found === undefined) break
    const { start, end } = found
    from = end
    if (isMarker(text, start, end)) continue
    clean += text.slice(copied, start) + by
    copied = end
  }
  // Without the flag u an expression may take half of a character.
  return copied === 0 ? text : (clean + text.slice(copied)).toWellFormed()
}

interface Range {
  readonly start: number
  readonly end: number
}

function execFrom(text: string, regex: RegExp, from: number): Range | undefined {
  regex.lastIndex = from
  const match = regex.exec(text)
  return match === null || match[0] === '' ? undefined : { start: match.index, end: match.index + match[0].length }
}

function execInWindows(text: string, regex: RegExp, from: number): Range | undefined {
  let chars = WINDOW_CHARS
  for (let at = from; at < text.length;) {
    // What stands before belongs to the window, since `^` and what looks behind depend on it.
    const first = Math.max(0, at - MARGIN_CHARS)
    const last = Math.min(text.length, at + chars)
    const found = execFrom(text.slice(first, last), regex, at - first)
    const start = found === undefined ? last : found.start + first
    const isWhole = last === text.length
    if (found !== undefined && (isWhole || found.end + first <= last - MARGIN_CHARS)) return { start, end: found.end + first }
    if (isWhole) return undefined
    // A match at the window's end may be longer, or none: the next window begins with it, and is twice as long if this one did.
    if (found !== undefined && start === at) chars *= 2
    else {
      chars = WINDOW_CHARS
      at = found === undefined ? last - OVERLAP_CHARS : Math.max(start, at + 1)
    }
  }
  return undefined
}

const MARKERS = ['[email]', '[creditCard]', '[ssn]', '[bearer]', '[scrubbed]', '[removed]']
const MAX_MARKER_CHARS = Math.max(...MARKERS.map((marker) => marker.length))

/** Whether a match lies within what stands for something removed. */
function isMarker(text: string, start: number, end: number): boolean {
  if (end - start > MAX_MARKER_CHARS) return false
  let open = start
  while (open > 0 && start - open < MAX_MARKER_CHARS && text[open] !== '[') open -= 1
  return MARKERS.some((marker) => text.startsWith(marker, open) && open + marker.length >= end)
}
