/** Divides a line that has more than one record, or a record and text. Pure; takes linear time. */
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  findStringEnd,
} from '../shared/json-scan.js'
import type { Mapper } from './mapper.js'

export interface LinePart {
  readonly text: string
  /** Whether it is a record, or the beginning of one. */
  readonly isRecord: boolean
}

const OBJECT_START = /\{[\t ]*"/g
/** Between the records of a list. */
const PUNCTUATION = /^[,[\]]$/
const COLOR = /\u001b\[[\d;?]*[A-Za-z]/y
const ESCAPE = 27
const SPACE = 32
const DELETE = 127
const BYTE_ORDER_MARK = 0xfeff
/** A longer key is not recognized as that of a level. */
const MAX_KEY_CHARS = 128
const BARE = /[-+.\w]/

/** @returns the position of the first character that is no control character, white space, byte order mark or color */
export function skipBlanks(text: string, from = 0): number {
  let at = from
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    COLOR.lastIndex = at
    if (code === ESCAPE && COLOR.test(text)) at = COLOR.lastIndex - 1
    else if (code > SPACE && code !== DELETE && code !== BYTE_ORDER_MARK) break
  }
  return at
}

/**
 * Returns the records and the texts between them. The beginning of a record whose end is missing is followed by the text
 * after the other records, which may be its end.
 *
 * @param mapper says whether an object is a log record, or starts like one. Other objects are parts of a text
 */
export function divideLine(line: string, mapper: Pick<Mapper, 'isRecord' | 'isStart'>): LinePart[] {
  const parts: LinePart[] = []
  /** Objects that do not end, because an object around them does not. */
  const endless = new Set<number>()
  let cut = ''
  let done = 0
  let cutAt = -1
  const addText = (end: number): void => {
    const start = cutAt === -1 ? end : cutAt
    const from = done === 0 ? 0 : skipBlanks(line, done)
    cutAt = -1
    if (cut !== '') cut += line.slice(done, end)
    else {
      const text = line.slice(from, start).trimEnd()
      if (skipBlanks(text) < text.length && !PUNCTUATION.test(text)) parts.push({ text, isRecord: false })
      cut = line.slice(start, end)
    }
  }
  OBJECT_START.lastIndex = 0
  for (let found = OBJECT_START.exec(line); found !== null; found = OBJECT_START.exec(line)) {
    const at = found.index
    OBJECT_START.lastIndex = at + 1
    if (endless.has(at)) continue
    const end = findObjectEnd(line, at, endless)
    if (end === -1) {
      if (cutAt === -1 && (skipBlanks(line, done) === at || mapper.isStart(line.slice(at, at + MAX_KEY_CHARS))))
        cutAt = at
      continue
    }
    OBJECT_START.lastIndex = end
    const text = line.slice(at, end)
    if (!mapper.isRecord(text)) continue
    addText(at)
    parts.push({ text, isRecord: true })
    done = end
  }
  addText(line.length)
  if (parts.length === 0) return [{ text: line, isRecord: line.startsWith('{"') }]
  if (cut !== '') parts.push({ text: cut, isRecord: true })
  return parts
}

/**
 * Returns the position after an object, or -1 if a token cannot follow the one before it, or the object has no end.
 *
 * @param endless receives the positions of the objects that have no end
 */
function findObjectEnd(text: string, start: number, endless: Set<number>): number {
  const open: number[] = []
  /** Whether the token before this position is a value, and whether it is a number or a word, which may go on. */
  let isAfterValue = false
  let isBare = false
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === COLON) isAfterValue = isBare = false
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.pop()
      if (open.length === 0) return at + 1
      isAfterValue = true
      isBare = false
    } else if (code <= SPACE) continue
    else if (isAfterValue && !(isBare && BARE.test(text[at] as string))) break
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) open.push(at)
    else if (code === QUOTE) {
      at = findStringEnd(text, at, text.length)
      if (at === -1) break
      isAfterValue = true
    } else if (BARE.test(text[at] as string)) isAfterValue = isBare = true
    else break
  }
  for (const at of open) endless.add(at)
  return -1
}
