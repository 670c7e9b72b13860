/** Finds with one look-up per key which stages of the mapping a record needs; most records need few. */
import type { JsonObject } from '../../protocol/log-entry.js'
import { isDialectKey, mayBeUnsent } from './dialects.js'

/** Bits of the stages, by the keys that these read. */
export const ERROR = 1
export const IDS = 2
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
const ALL = 1023

/** Limits the memory for keys; their number and length may be any. */
const MAX_KNOWN = 2_000
const MAX_KNOWN_CHARS = 64

export class PartFinder {
  readonly #mapped: ReadonlyMap<string, number>
  readonly #known = new Map<string, number>()

  /** @param groups keys by the bit of the stage that reads them */
  constructor(groups: readonly (readonly [bit: number, keys: readonly string[]])[]) {
    const mapped = new Map<string, number>()
    for (const [bit, keys] of groups) for (const key of keys) mapped.set(key, (mapped.get(key) ?? 0) | bit)
    this.#mapped = mapped
  }

  /** All bits if the record may have members of another format, since these may belong to any stage. */
  find(record: JsonObject): number {
    let found = 0
    for (const key of Object.keys(record)) {
      const bits = this.#known.get(key) ?? this.#learn(key)
      const value = record[key]
      found |= typeof value !== 'object' ? bits & ~DIALECT_HOLDER : value === null ? bits : bits | CONTAINER
    }
    return (found & (DIALECT | DIALECT_HOLDER)) === 0 ? found : ALL
  }

  #learn(key: string): number {
    const bits =
      (this.#mapped.get(key) ?? 0) |
      (mayBeUnsent(key) ? UNSENT : 0) |
      (isDialectKey(key, false) ? DIALECT : isDialectKey(key, true) ? DIALECT_HOLDER : 0)
    if (this.#known.size === MAX_KNOWN) this.#known.clear()
    if (key.length <= MAX_KNOWN_CHARS) this.#known.set(key, bits)
    return bits
  }
}
