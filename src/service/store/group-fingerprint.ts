/**
 * Computes the fingerprint that groups entries of one failure (pure). If the entry has no fingerprint, it is a hash of the error type,
 * the normalized message and the application's first frame. For a request that failed with a status, the route replaces the frame.
 */
import { createHash } from 'node:crypto'
import type { LogEntry } from '../../protocol/log-entry.js'
import { findFailedRoute } from './failed-route.js'

/** Limits the time spent on a long message. */
const MAX_MESSAGE_READ = 2000
const MAX_MESSAGE = 300
const MAX_TYPE = 200
const MAX_SOURCE_READ = 1000

export function isFailure(entry: LogEntry): boolean {
  return entry.level === 'error' || entry.level === 'fatal' || entry.error !== undefined
}

/** The value that the filter `fingerprint` compares; computed only for failures. */
export function findErrorGroup(entry: LogEntry): string | undefined {
  return entry.fingerprint !== undefined || isFailure(entry) ? computeFingerprint(entry) : undefined
}

export function computeFingerprint(entry: LogEntry): string {
  if (entry.fingerprint !== undefined) return entry.fingerprint
  const { error } = entry
  const type = error?.type?.slice(0, MAX_TYPE) ?? ''
  const route = findFailedRoute(entry)
  // For a route, the message is not normalized: it contains the status, which distinguishes failures.
  const message = route === undefined ? removeValues(error?.message ?? entry.message) : error?.message
  const location = route ?? findErrorLocation(error?.stack) ?? withoutLine(entry.source) ?? ''
  const parts = [type, message, location].join('\u001f')
  return createHash('sha256').update(parts).digest('hex').slice(0, 16)
}

/**
 * An opening quote does not follow a word, and a closing quote does not precede one: "can't read the user's" contains no quoted text.
 * A match ends at the next opening quote, which makes the time linear in the number of opening quotes.
 */
const QUOTED =
  /(?<![\w\\])(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`)(?!\w)|“[^“”\n]{0,200}”|‘[^‘’\n]{0,200}’|«[^«»\n]{0,200}»/g
const URL_TEXT = /\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s"'`<>]*/gi
const WORD = /[^\s"'`()<>[\]{}=,;|]+/g
/** Matches numbers, e-mail addresses, and hexadecimal ids without digits. */
const VALUE = /\d|@|^[a-f]{8,}$/i
/** A list of values counts as one value: messages do not differ by the length of a list. */
const VALUES = /\*(?:[\s,;|]*\*)+/g

/** Replaces every value in the message (number, id, address, quoted text) by `*`. */
export function removeValues(message: string): string {
  return message
    .slice(0, MAX_MESSAGE_READ)
    .replace(QUOTED, '*')
    .replace(URL_TEXT, '*')
    .replace(WORD, (word) => (VALUE.test(word) ? '*' : word))
    .replace(VALUES, '*')
    .trim()
    .slice(0, MAX_MESSAGE)
}

function withoutLine(source: string | undefined): string | undefined {
  return source?.slice(0, MAX_SOURCE_READ).replace(/(?::\d+){1,2}$/, '')
}

/** Maximum number of characters to parse. A stack can have any length, and the application's frames come first. */
const MAX_STACK = 16_384
const MAX_LINE = 1000
const MAX_LOCATION = 300

interface Frame {
  /** Function name; empty for an anonymous function. */
  readonly name: string
  readonly file: string
  readonly line: string
}

/**
 * Function and file of the application's first frame, or of the first frame if none is the application's. The line number is
 * included only for anonymous functions: otherwise an edit above the function would change the fingerprint.
 */
function findErrorLocation(stack: string | undefined): string | undefined {
  if (stack === undefined) return undefined
  let first: Frame | undefined
  for (let from = 0, end = 0; end !== -1 && from < MAX_STACK; from = end + 1) {
    end = stack.indexOf('\n', from)
    const frame = parseFrame(stack.slice(from, end === -1 ? from + MAX_LINE : Math.min(end, from + MAX_LINE)))
    if (frame === undefined) continue
    if (isOwn(frame.file)) return formatLocation(frame)
    first ??= frame
  }
  return first && formatLocation(first)
}

const AT = /^\s*at (?:async )?(?:new )?/
/** `file:line:column` at the end of a location. */
const POSITION = /:(\d+)(?::\d+)?$/
/** V8's names for a module's top level and for anonymous functions. */
const NAMELESS = /^(?:Object\.|Module\.|Function\.)?(?:<anonymous>|anonymous)?$/

function parseFrame(text: string): Frame | undefined {
  const at = AT.exec(text)?.[0]
  if (at === undefined) return undefined
  const rest = text.slice(at.length).trimEnd()
  const open = rest.endsWith(')') ? rest.indexOf(' (') : -1
  const location = open === -1 ? rest : rest.slice(open + 2, -1)
  const position = POSITION.exec(location)
  // Code created by eval has no file; the next frame is its creator.
  if (position === null || location.startsWith('eval at ')) return undefined
  const name = open === -1 ? '' : rest.slice(0, open).replace(/ \[as [^\]]*\]$/, '')
  const file = normalizeFile(location.slice(0, position.index))
  return { name: NAMELESS.test(name) ? '' : name, file, line: position[1] ?? '' }
}

function isOwn(file: string): boolean {
  return (
    !file.startsWith('node:') &&
    !file.startsWith('internal/') &&
    !/(?:^|\/)node_modules\//.test(file) &&
    file !== '<anonymous>'
  )
}

/** Path segment that differs between releases or builds: a number, a date, a hash. */
const PART_VALUE = /^[\d._-]+$|^[\da-f]{7,}$|^[\da-f]{8}-[\da-f-]{27}$/i
const CONTENT_HASH = /[.-](?=[a-z]*\d)[\da-z]{8,}(?=\.\w+$)/i

function normalizeFile(location: string): string {
  const path = location
    .replace(/^file:\/\/\/?(?=[a-z]:|\/)/i, '')
    .replace(/\?.*$/, '')
    .replaceAll('\\', '/')
  return path
    .split('/')
    .map((part) => (PART_VALUE.test(part) ? '*' : part.replace(CONTENT_HASH, '.*')))
    .join('/')
}

function formatLocation({ name, file, line }: Frame): string {
  return (name === '' ? `${file}:${line}` : `${name} ${file}`).slice(-MAX_LOCATION)
}
