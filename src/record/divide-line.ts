/** Divides a line that has more than one record, or a record and text. Pure; takes linear time. */
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, QUOTE, findStringEnd } from '../shared/json-scan.js'
import { OPEN_BRACE, OPEN_BRACKET } from '../shared/json-scan.js'
import type { Mapper } from './mapper.js'

const OBJECT_START = /\{[\t ]*"/g
const PUNCTUATION = /^[,[\]]?$/
/** Control characters, white space, byte order marks and colors. */
const BLANKS = /[\0-\u001a\u001c- \u007f\ufeff]{1,1000}|\u001b(?:\[[\d;?]*[A-Za-z])?/y
const WORD = /[-+.\w]+/y
const SPACE = 32

/** @returns the position of the first character that is not blank */
export function skipBlanks(text: string, from = 0): number {
  let at = from
  for (BLANKS.lastIndex = at; BLANKS.test(text);) at = BLANKS.lastIndex
  return at
}

/**
 * Returns the records and the texts between them. The beginning of a record whose end is missing comes last, with the texts
 * after it, which may be its end.
 *
 * If the line begins with a text, only the records at its end are separate: an object within the text may be logged input,
 * such as the URL of a request, and the text around it may be a header.
 *
 * @param mapper recognizes log records, and the beginning of one. Other objects are parts of a text
 */
export function divideLine(line: string, mapper: Pick<Mapper, 'isRecord' | 'startsWithLevel'>): string[] {
  let parts: string[] = []
  const unclosed = new Set<number>()
  let recordEnd = 0
  let cut = ''
  /** Start of an incomplete record after `recordEnd`. */
  let cutAt = Infinity
  /** Known from the first object on. */
  let startsWithText: boolean | undefined
  const addText = (end: number): void => {
    if (cut !== '') cut += line.slice(recordEnd, end)
    else {
      const text = line.slice(skipBlanks(line, recordEnd), Math.min(cutAt, end)).trimEnd()
      if (startsWithText === true && text !== '') parts = [line.slice(0, end).trimEnd()]
      else if (!PUNCTUATION.test(text)) parts.push(text)
      cut = line.slice(Math.min(cutAt, end), end)
    }
    cutAt = Infinity
  }
  OBJECT_START.lastIndex = 0
  for (let found = OBJECT_START.exec(line); found !== null; found = OBJECT_START.exec(line)) {
    const at = found.index
    OBJECT_START.lastIndex = at + 1
    if (unclosed.has(at)) continue
    const end = findObjectEnd(line, at, unclosed)
    if (end > 0) OBJECT_START.lastIndex = end
    const isRecord = end > 0 && mapper.isRecord(line.slice(at, end))
    const isCut = end === 0 && (skipBlanks(line, recordEnd) === at || mapper.startsWithLevel(line, at))
    startsWithText ??= !PUNCTUATION.test(line.slice(skipBlanks(line), at).trimEnd())
    if (isRecord) {
      addText(at)
      parts.push(line.slice(at, end))
      recordEnd = end
    } else if (isCut && startsWithText === false) cutAt = Math.min(cutAt, at)
  }
  addText(line.length)
  if (cut !== '') parts.push(cut)
  return parts.length < 2 && recordEnd === 0 ? [line] : parts
}

/**
 * Returns the position after an object, or 0 if it has no end, or a token that cannot follow the one before it.
 *
 * @param unclosed receives the positions of this object and those within it that have no end
 */
function findObjectEnd(text: string, start: number, unclosed: Set<number>): number {
  const open: number[] = []
  let isAfterValue = false
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === COLON) isAfterValue = false
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.pop()
      if (open.length === 0) return at + 1
      isAfterValue = true
    } else if (code <= SPACE) continue
    else if (isAfterValue) break
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) open.push(at)
    else {
      WORD.lastIndex = at
      if (code !== QUOTE && !WORD.test(text)) break
      at = code === QUOTE ? findStringEnd(text, at, text.length) : WORD.lastIndex - 1
      if (at === -1) break
      isAfterValue = true
    }
  }
  for (const at of open) unclosed.add(at)
  return 0
}
