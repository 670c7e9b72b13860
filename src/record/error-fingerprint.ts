/** The fingerprint of an error: a hash of its type, its message without variable parts, and the file of its top frame. */
import { createHash } from 'node:crypto'
import type { EntryError } from '../protocol/log-entry.js'
import { findTopFrame } from './reference/entry-error.js'

/** Enough to distinguish messages; the rest is mostly data. */
const MESSAGE_CHARS = 500

const VARIABLE_PARTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, '<id>'],
  [/"[^"]*"|'[^']*'/g, '<text>'],
  [/\d+/g, '<n>'],
]

/** 32 hexadecimal digits. Line and column are left out, so that a deploy does not make every error a new one. */
export function computeErrorFingerprint(error: EntryError): string {
  let message = (error.message ?? '').slice(0, MESSAGE_CHARS)
  for (const [part, name] of VARIABLE_PARTS) message = message.replace(part, name)
  const file = (findTopFrame(error.stack) ?? '').replace(/:\d+:\d+$/, '')
  return createHash('sha256')
    .update([error.type ?? '', message, file].join('\n'))
    .digest('hex')
    .slice(0, 32)
}
