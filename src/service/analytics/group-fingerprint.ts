/**
 * The fingerprint that groups entries of one failure (pure): the fingerprint of the entry itself, else a hash of the error's type,
 * its normalized message, and the first frame of the application; of a request that failed with a status, its route instead of the frame.
 */
import { createHash } from 'node:crypto'
import type { LogEntry } from '../../protocol/log-entry.js'
import { findErrorLocation } from './error-location.js'
import { findFailedRoute } from './failed-route.js'

/** Bounds the cost of a long message. */
const MAX_MESSAGE_READ = 2000
const MAX_MESSAGE = 300
const MAX_TYPE = 200
const MAX_SOURCE_READ = 1000

/** Whether error groups count the entry. */
export function isFailure(entry: LogEntry): boolean {
  return entry.level === 'error' || entry.level === 'fatal' || entry.error !== undefined
}

/** The fingerprint that the filter compares; computed for failures only. */
export function findErrorGroup(entry: LogEntry): string | undefined {
  return entry.fingerprint !== undefined || isFailure(entry) ? computeFingerprint(entry) : undefined
}

export function computeFingerprint(entry: LogEntry): string {
  if (entry.fingerprint !== undefined) return entry.fingerprint
  const { error } = entry
  const type = error?.type?.slice(0, MAX_TYPE) ?? ''
  const route = findFailedRoute(entry)
  // The status is part of the failure of a route.
  const message = route === undefined ? withoutValues(error?.message ?? entry.message) : error?.message
  const location = route ?? findErrorLocation(error?.stack) ?? withoutLine(entry.source) ?? ''
  const parts = [type, message, location].join('\u001f')
  return createHash('sha256').update(parts).digest('hex').slice(0, 16)
}

/**
 * An opening quote does not follow a word, and a closing quote does not precede one: "can't read the user's" contains no quoted text. A
 * match ends at the next opening quote, so that the time is linear in the number of opening quotes.
 */
const QUOTED =
  /(?<![\w\\])(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`)(?!\w)|“[^“”\n]{0,200}”|‘[^‘’\n]{0,200}’|«[^«»\n]{0,200}»/g
const URL_TEXT = /\b[a-z][a-z\d+.-]{0,20}:\/\/[^\s"'`<>]*/gi
const WORD = /[^\s"'`()<>[\]{}=,;|]+/g
/** Digits, e-mail addresses, and hexadecimal that happens to have no digit. */
const VALUE = /\d|@|^[a-f]{8,}$/i
/** One value or several: the number of values in a list does not distinguish messages. */
const VALUES = /\*(?:[\s,;|]*\*)+/g

/** The message with every value (number, id, address, quoted text) as `*`. */
export function withoutValues(message: string): string {
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
