/** The fingerprint of an error: a hash of its type, its message without variable parts, and the file of its top frame. */
import { createHash } from 'node:crypto'
import type { EntryError } from '../protocol/log-entry.js'
import { findTopFrame } from './reference/entry-error.js'
import { copyString } from './string-copy.js'

/** Enough to distinguish messages; the rest is mostly data. */
const MESSAGE_CHARS = 500

const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<id>'],
  [/"[^"]*"|'[^']*'/g, '<text>'],
  [/\d+/g, '<n>'],
]

/** Errors repeat: the replacements and the hash take 5 us, a look-up less than 1 us. */
const MAX_KNOWN = 256
/** Longer texts are not cached, which limits the cache to 1 MiB. */
const MAX_KNOWN_CHARS = 2_000
const known = new Map<string, string>()

/** 32 hexadecimal digits. Excludes line and column, so a deploy does not change the fingerprint of every error. */
export function computeErrorFingerprint(error: EntryError): string {
  return createFingerprint(error.type ?? '', error.message ?? '', findTopFrame(error) ?? '')
}

/** @param location of the top frame; '' if there is none */
export function createFingerprint(type: string, message: string, location: string): string {
  const start = message.slice(0, MESSAGE_CHARS)
  const file = location.replace(/:\d+:\d+$/, '')
  const text = JSON.stringify([type, start, file])
  const found = known.get(text)
  if (found !== undefined) return found
  const fingerprint = hash(type, start, file)
  if (text.length > MAX_KNOWN_CHARS) return fingerprint
  if (known.size === MAX_KNOWN) known.clear()
  known.set(copyString(text), fingerprint)
  return fingerprint
}

function hash(type: string, message: string, file: string): string {
  let normal = message
  for (const [part, name] of VARIABLE_PARTS) normal = normal.replace(part, name)
  return createHash('sha256').update([type, normal, file].join('\n')).digest('hex').slice(0, 32)
}
