/**
 * Shortens a very long line before it is parsed, because parsing and redacting it would block for seconds. Works on the
 * text and creates no tree.
 *
 * A secret at the end of a cut text might not be found. The text therefore keeps more characters than are sent, followed
 * by a mark; `dropMargins` removes both after the redaction.
 */
import { randomBytes } from 'node:crypto'
import { findBackslashesBefore } from '../redaction/quotes.js'
import { CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE, findStringEnd } from '../shared/json-scan.js'
import { ERROR_KEYS, MAX_DEPTH, MAX_KEYS } from './clean-copy.js'
import type { CutCounts } from './clean-copy.js'

const QUOTED_ERROR_KEYS = [...ERROR_KEYS].map((key) => `"${key}"`)
const LEAST_LONG_CHARS = 512 * 1024
/** Values within the members of a record. */
const MAX_VALUES = 20_000
/** Characters of all long texts, as a multiple of the limit for one text. */
const TEXTS = 2
/** What a mapped member may have in any case, because pino writes its message last. */
const LEAST_VALUES = 64
const LEAST_CHARS = 8_192
const SHORT_CHARS = 64
const SPACE = 32
/** Distinguishes braces from brackets. */
const BRACE_BIT = 32
/** Characters of a text that are read beyond the part that is sent. A secret of up to this length matches even at the cut. */
export const MARGIN_CHARS = 4_096
const LENGTH_NOTE = /… \(\d{1,9} characters\)$/
const MAX_NOTE_CHARS = 24
/** Random, so logged text cannot imitate it; private-use characters, so patterns do not match it. */
export const CUT_MARK = String.fromCharCode(...[...randomBytes(12)].map((byte) => 0xe000 + byte))

/** Whether the entry of a line exceeds `maxEntryBytes` unless most of the line is not sent. */
export function isLongLine(line: string, maxEntryBytes: number): boolean {
  return line.length > LEAST_LONG_CHARS && line.length > 2 * maxEntryBytes
}

export function shortenText(text: string, maxChars: number): string {
  return `${text.slice(0, maxChars + MARGIN_CHARS)}\n${CUT_MARK}${createLengthNote(text)}`
}

/** The note at the end of a shortened text. Has the original length even if the text was cut before. */
export function createLengthNote(text: string): string {
  return LENGTH_NOTE.exec(text.slice(-MAX_NOTE_CHARS))?.[0] ?? `… (${text.length} characters)`
}

interface Container {
  readonly isObject: boolean
  members: number
  hasKept: boolean
}

/**
 * Removes members, items and text beyond the limits of one record.
 *
 * @param maxChars limit for one text
 * @param isMapped whether a key of the record itself is kept beyond the limits
 * @returns JSON if the line is a JSON object; otherwise any text that is not
 */
export function shortenLine(
  line: string,
  maxChars: number,
  cuts: CutCounts,
  isMapped: (key: string) => boolean,
): string {
  let short = ''
  /** Text before this position is in `short` or removed. */
  let copied = 0
  /** Position of the comma or the opening bracket before the current member. */
  let delimiter = line.search(/\S/)
  if (line[delimiter] !== '{') return ''
  const open: Container[] = [{ isObject: true, members: 0, hasKept: false }]
  let expectsMember = true
  /** Whether a member is being removed, and the number of open containers in it. */
  let isRemoving = false
  let openRemoved = 0
  const rest = { values: MAX_VALUES, chars: maxChars * TEXTS }
  /** Of the record's current member: at most half of the rest, so a list leaves room for an error. */
  let share = { values: 0, chars: 0 }

  const exceeds = ({ isObject, members }: Container, at: number, end: number): boolean => {
    if (open.length > MAX_DEPTH) return true
    if (!isObject) return share.values <= 0
    const isOwn = open.length === 1
    const isTooMany = members > MAX_KEYS || (!isOwn && share.values <= 0)
    if (!isOwn && !isTooMany) return end - at > maxChars
    if (!isOwn) return !QUOTED_ERROR_KEYS.some((key) => line.startsWith(key, at))
    const isNeeded = isMapped(decode(line.slice(at, end + 1)))
    share = {
      values: Math.max(rest.values >> 1, isNeeded ? LEAST_VALUES : 0),
      chars: Math.max(rest.chars >> 1, isNeeded ? LEAST_CHARS : 0),
    }
    return !isNeeded && (isTooMany || end - at > maxChars)
  }
  const beginMember = (container: Container, at: number, end: number): void => {
    container.members += 1
    isRemoving = exceeds(container, at, end)
    if (isRemoving) {
      short += line.slice(copied, line[delimiter] === ',' ? delimiter : delimiter + 1)
      if (open.length <= MAX_DEPTH) cuts[container.isObject ? 'keys' : 'items'] += 1
      return
    }
    if (open.length > 1) {
      share.values -= 1
      rest.values -= 1
    }
    // The comma before a removed member was not copied.
    if (copied > delimiter && container.hasKept) short += ','
    container.hasKept = true
  }
  const cutText = (at: number, end: number): void => {
    const start = at + 1
    const allowed = Math.max(0, Math.min(maxChars, share.chars))
    const used = Math.min(end - start, allowed)
    share.chars -= used
    rest.chars -= used
    const read = allowed === 0 ? SHORT_CHARS : allowed + MARGIN_CHARS
    if (end - start <= read) return
    const kept = allowed === 0 ? start : findEscapeStart(line, start, start + read)
    short += line.slice(copied, kept) + (allowed === 0 ? '' : `\\n${CUT_MARK}`)
    short += createLengthNote(decode(line.slice(at, end + 1)))
    copied = end
  }

  for (let at = delimiter + 1; at < line.length && open.length > 0; at += 1) {
    const code = line.charCodeAt(at)
    const opens = (code | BRACE_BIT) === OPEN_BRACE
    const closes = (code | BRACE_BIT) === CLOSE_BRACE
    if (code <= SPACE || (!expectsMember && code !== QUOTE && code !== COMMA && !opens && !closes)) continue
    const end = code === QUOTE ? findStringEnd(line, at, line.length) : at
    if (end === -1) return ''
    if (isRemoving) {
      if (openRemoved === 0 && (closes || code === COMMA)) {
        isRemoving = false
        copied = closes ? at : at + 1
      } else openRemoved += opens ? 1 : closes ? -1 : 0
    }
    const container = open.at(-1) as Container
    const isStart = expectsMember && !closes
    expectsMember = !isRemoving && (opens || code === COMMA)
    if (isStart) beginMember(container, at, end)
    if (isRemoving) {
      if (isStart) {
        expectsMember = false
        openRemoved = opens ? 1 : 0
      }
    } else if (code === QUOTE) {
      if (!isStart || !container.isObject) cutText(at, end)
    } else if (closes) open.pop()
    else if (opens) open.push({ isObject: code === OPEN_BRACE, members: 0, hasKept: false })
    if (expectsMember) delimiter = at
    at = end
  }
  if (copied > 0) cuts.bytes = Buffer.byteLength(line)
  return short + line.slice(copied)
}

/** The text of a JSON string; '' if it is invalid. */
export function decode(json: string): string {
  if (!json.includes('\\')) return json.slice(1, -1)
  try {
    return JSON.parse(json) as string
  } catch {
    return ''
  }
}

/** `at`, or the start of the escape that contains it. */
function findEscapeStart(line: string, from: number, at: number): number {
  for (let start = at - 1; start >= Math.max(from, at - 5); start -= 1) {
    if (line[start] !== '\\' || (start + 1 - findBackslashesBefore(line, start + 1, from)) % 2 === 0) continue
    return start + (line[start + 1] === 'u' ? 6 : 2) > at ? start : at
  }
  return at
}
