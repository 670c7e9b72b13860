/**
 * Computes the fingerprint that groups entries of one failure (pure). If the entry has no fingerprint, it is a hash of the error type,
 * the normalized message and the application's first frame. For a request that failed with a status, the route replaces the frame.
 */
import { createHash } from 'node:crypto'
import type { LogEntry } from '../../protocol/log-entry.js'
import { findErrorLocation } from './error-location.js'
import { findFailedRoute } from './failed-route.js'

/** Limits the time spent on a long message. */
const MAX_MESSAGE_READ = 2000
const MAX_MESSAGE = 300
const MAX_TYPE = 200
const MAX_SOURCE_READ = 1000

/** Whether the entry belongs to an error group. */
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
