/**
 * How the fast path treats each key of a record, in one look-up. Copied keys are numbered when first seen, so
 * duplicates are found without comparing keys, however many a record has.
 */
import { DIALECT_HOLDERS, HTTP_PREFIX, MIN_HTTP_KEY_CHARS } from '../reference/dialects.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { NOTE_KEY } from '../shorten-entry.js'
import { copyString } from '../string-copy.js'
import { DECLINED_KEYS, LEVEL, OTHER_REQUEST_ID } from './fast-fields.js'
import type { KeyTable } from './fast-fields.js'

/** Only the reference path maps this member. */
export const DECLINED = 0
export const MESSAGE_KEY = 1
export const LEVEL_KEY = 2
export const TIME_KEY = 3
export const ERROR_KEY = 4
export const REQ_KEY = 5
export const RES_KEY = 6
export const DURATION_KEY = 7
export const NAME_KEY = 8
export const SERVICE_KEY = 9
export const ENVIRONMENT_KEY = 10
export const VERSION_KEY = 11
export const OTHER_ID_KEY = 12
/** Copied unchanged, unless the value is a container. The key has no number. */
export const HOLDER_KEY = 13
export const USER_KEY = 14
export const TAGS_KEY = 15
/** Base value; the field's slot is added. */
export const FIRST_SLOT_KEY = 16
/** Base value for keys copied unchanged; the key's number is added. */
export const FIRST_COPIED_KEY = 64

/** Applications have fewer keys, unless they log ids as keys. Further keys are compared in a Set. */
const MAX_COPIED_KEYS = 1_000
const MAX_KEY_CHARS = 64

export class RecordKeys {
  readonly #kinds: Map<string, number>
  /** The last record that had the key, by the key's number. */
  readonly #seenIn = new Int32Array(MAX_COPIED_KEYS)
  #copied = 0
  #record = 0
  /** Keys of this record without a number. */
  readonly #others = new Set<string>()

  constructor(options: MappingOptions, table: KeyTable) {
    this.#kinds = createKinds(options, table)
  }

  /** Must be called before adding the keys of another record. */
  reset(): void {
    this.#record = (this.#record + 1) | 0
    if (this.#others.size > 0) this.#others.clear()
  }

  kindOf(key: string): number {
    return this.#kinds.get(key) ?? this.#learn(key)
  }

  /** Returns false if the record already has the key. @param kind as returned by `kindOf`, for a copied member */
  add(key: string, kind: number): boolean {
    const number = kind - FIRST_COPIED_KEY
    if (number < 0 || number >= MAX_COPIED_KEYS) {
      const { size } = this.#others
      return this.#others.add(key).size > size
    }
    if (this.#seenIn[number] === this.#record) return false
    this.#seenIn[number] = this.#record
    return true
  }

  #learn(key: string): number {
    // An escape may hide another key; a name with this prefix may be a header or a body.
    if (key.includes('\\') || (key.length >= MIN_HTTP_KEY_CHARS && key.startsWith(HTTP_PREFIX))) return DECLINED
    if (this.#copied === MAX_COPIED_KEYS || key.length > MAX_KEY_CHARS) return FIRST_COPIED_KEY + MAX_COPIED_KEYS
    const kind = FIRST_COPIED_KEY + this.#copied
    this.#copied += 1
    this.#kinds.set(copyString(key), kind)
    return kind
  }
}

/** By name; keys without an entry are copied. Later names win. */
export function createKinds(
  options: MappingOptions,
  { req, res, responseTime, slotOf }: KeyTable,
): Map<string, number> {
  const { messageKey, errorKey, levelKey = LEVEL, metadata } = options
  const declined = [...Object.keys(metadata), ...DECLINED_KEYS, NOTE_KEY, LEVEL, 'req', 'res']
  const all = (keys: Iterable<string>, kind: number): [string, number][] => Array.from(keys, (key) => [key, kind])
  return new Map([
    ...all(DIALECT_HOLDERS, HOLDER_KEY),
    ...all(declined, DECLINED),
    ['name', NAME_KEY],
    ['service', SERVICE_KEY],
    ...all(['environment', 'env'], ENVIRONMENT_KEY),
    ['version', VERSION_KEY],
    ...all(['duration_ms', 'responseTime', responseTime], DURATION_KEY),
    ['user', Object.hasOwn(metadata, 'user') ? DECLINED : USER_KEY],
    ['tags', TAGS_KEY],
    ...Array.from(slotOf, ([key, slot]): [string, number] => [
      key,
      slot === OTHER_REQUEST_ID ? OTHER_ID_KEY : FIRST_SLOT_KEY + slot,
    ]),
    ['time', TIME_KEY],
    [levelKey, LEVEL_KEY],
    [messageKey, MESSAGE_KEY],
    [res, RES_KEY],
    [req, REQ_KEY],
    ...all(['err', 'error', errorKey], ERROR_KEY),
  ])
}
