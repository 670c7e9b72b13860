/** Finds with one look-up per key which stages of the mapping a record needs; most records need few. */
import type { JsonObject } from '../../protocol/log-entry.js'
import { TextMemo } from '../../shared/text-memo.js'
import { isDialectKey, mayBeUnsent } from './dialects.js'

/** Bits of the stages, by the keys that these read. */
export const ERROR = 1
/** Ids of requests beside the framework's. */
export const OTHER_IDS = 2
export const REQUEST = 4
export const TRACE = 8
export const MEASURES = 16
export const SERVICE = 32
export const UNSENT = 64
export const DIALECT = 128
/** A member of another format if its value is a container. */
const DIALECT_HOLDER = 256
/** A value that is an object or a list. */
export const CONTAINER = 512
export const IDENTITY = 1024
/** The first of the bits of text fields, in the order of `TEXT_FIELDS`. */
export const TEXT = 2048
const ALL = -1

export class PartFinder {
  readonly #bits: TextMemo

  /** @param groups keys by the bit of the stage that reads them */
  constructor(groups: readonly (readonly [bit: number, keys: readonly string[]])[]) {
    this.#bits = new TextMemo((key) =>
      groups.reduce(
        (bits, [bit, keys]) => (keys.includes(key) ? bits | bit : bits),
        (mayBeUnsent(key) ? UNSENT : 0) |
          (isDialectKey(key, false) ? DIALECT : isDialectKey(key, true) ? DIALECT_HOLDER : 0),
      ),
    )
  }

  /** All bits if the record may have members of another format, since these may belong to any stage. */
  find(record: JsonObject): number {
    let found = 0
    for (const key of Object.keys(record)) {
      const bits = this.#bits.get(key)
      const value = record[key]
      found |= typeof value !== 'object' ? bits & ~DIALECT_HOLDER : value === null ? bits : bits | CONTAINER
    }
    return (found & (DIALECT | DIALECT_HOLDER)) === 0 ? found : ALL
  }
}
