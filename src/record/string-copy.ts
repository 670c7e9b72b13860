/** Texts that are kept for long: cut from a line they would hold its whole chunk, and come from anybody they may be endless. */
import { createHash } from 'node:crypto'

/** V8 copies what is shorter; what is longer is a slice. */
const LEAST_SLICE_CHARS = 13
/** Longer ids are known by their hash. */
const MAX_ID_CHARS = 200
/** One such character makes each of its text's take two bytes. The search costs next to nothing where there is none. */
export const NON_LATIN1 = /[^\0-\xff]/

/** A string of its own. */
export function copyString(text: string): string {
  if (text.length < LEAST_SLICE_CHARS) return text
  const encoding = NON_LATIN1.test(text) ? 'utf16le' : 'latin1'
  return Buffer.from(text, encoding).toString(encoding)
}

/** The SHA-1 of an id that is too long to be kept; undefined where it is not. */
export function hashLongId(id: string): string | undefined {
  return id.length <= MAX_ID_CHARS ? undefined : createHash('sha1').update(id).digest('hex')
}
