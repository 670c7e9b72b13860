/**
 * The latest lines by scope: a trace, a request, a session, or the process. An error takes the lines of its scope out
 * of the buffer, so each line is used once.
 */
import type { Clock } from '../shared/clock.js'
import type { MappedRecord } from '../record/mapped-record.js'
import type { LineRing } from '../record/line-ring.js'
import { copyString, hashLongId } from '../record/string-copy.js'
import { LineBuffer } from './line-buffer.js'
import type { BufferedLine } from './line-buffer.js'

export interface BreadcrumbBufferOptions {
  /** Where the lines are. */
  readonly ring: LineRing
  /** Maximum number of lines that an error takes. */
  readonly limit: number
  /** Memory limit for all lines: those further back in the ring are not taken. */
  readonly maxBytes: number
  readonly clock: Pick<Clock, 'now'>
  /** Default 10,000. Beyond it, the least recently used scope is removed. */
  readonly maxScopes?: number
  /** Milliseconds after which an unused scope is removed. Default 5 minutes. */
  readonly maxAgeMs?: number
}

const MAX_SCOPES = 10_000
const MAX_AGE_MS = 5 * 60_000

/** A chain of lines, and an element of the list by last use. */
interface Scope {
  key: string
  kind: string
  /** Number of its newest line. */
  newestLine: number
  /** Number of its first line not yet taken. */
  from: number
  /** `from` before the last `take`. */
  takenFrom: number
  usedAt: number
  older: Scope | undefined
  newer: Scope | undefined
}

export class BreadcrumbBuffer {
  readonly #options: BreadcrumbBufferOptions
  readonly #maxScopes: number
  readonly #maxAgeMs: number
  readonly #lines: LineBuffer
  /** By kind, because a request and a session may have the same id. */
  readonly #scopes = new Map<string, Map<string, Scope>>()
  #count = 0
  #oldest: Scope | undefined
  #newest: Scope | undefined
  #now: number

  constructor(options: BreadcrumbBufferOptions) {
    this.#options = options
    this.#maxScopes = options.maxScopes ?? MAX_SCOPES
    this.#maxAgeMs = options.maxAgeMs ?? MAX_AGE_MS
    this.#lines = new LineBuffer(options.ring, options.maxBytes)
    this.#now = options.clock.now()
  }

  get scopes(): number {
    return this.#count
  }

  /** Must be called before adding the lines of another text. Reads the clock once for all of them. */
  open(): void {
    this.#now = this.#options.clock.now()
    for (
      let scope = this.#oldest;
      scope !== undefined && this.#now - scope.usedAt > this.#maxAgeMs;
      scope = this.#oldest
    )
      this.#remove(scope)
  }

  /** Adds the line of a record to its scope. */
  add({ scopeKind, scopeId }: Pick<MappedRecord, 'scopeKind' | 'scopeId'>, line: BufferedLine): void {
    const scope = this.#scopeOf(scopeKind, scopeId) ?? this.#newScope(scopeKind, scopeId)
    this.#touch(scope)
    scope.newestLine = this.#lines.add(line, scope.newestLine)
  }

  /** Removes and returns the latest lines of a scope, oldest first. */
  take(kind: string, key: string): BufferedLine[] {
    const scope = this.#scopeOf(kind, key)
    if (scope === undefined) return []
    const lines = this.#lines.readChain(scope.newestLine, scope.from, this.#options.limit)
    scope.takenFrom = scope.from
    scope.from = this.#lines.next
    return lines
  }

  /** Undoes the last `take` of a scope, because its entry was dropped. */
  restore(kind: string, key: string): void {
    const scope = this.#scopeOf(kind, key)
    if (scope !== undefined) scope.from = scope.takenFrom
  }

  #scopeOf(kind: string, id: string): Scope | undefined {
    const key = hashLongId(id) ?? id
    // Most consecutive records belong to the same scope.
    const last = this.#newest
    return last !== undefined && last.key === key && last.kind === kind ? last : this.#scopes.get(kind)?.get(key)
  }

  #newScope(kind: string, id: string): Scope {
    const own = copyString(hashLongId(id) ?? id)
    const scope = this.#freeScope()
    scope.key = own
    scope.kind = kind
    let ofKind = this.#scopes.get(kind)
    if (ofKind === undefined) this.#scopes.set(kind, (ofKind = new Map()))
    ofKind.set(own, scope)
    this.#count += 1
    this.#append(scope)
    return scope
  }

  /**
   * Reuses the removed scope: at 10,000 new scopes per second, all objects would reach the old generation and cost 0.4
   * us of garbage collection each.
   */
  #freeScope(): Scope {
    const oldest = this.#oldest
    if (this.#count < this.#maxScopes || oldest === undefined) {
      return {
        key: '',
        kind: '',
        newestLine: -1,
        from: 0,
        takenFrom: 0,
        usedAt: this.#now,
        older: undefined,
        newer: undefined,
      }
    }
    this.#remove(oldest)
    oldest.newestLine = -1
    oldest.from = oldest.takenFrom = 0
    oldest.usedAt = this.#now
    return oldest
  }

  #touch(scope: Scope): void {
    scope.usedAt = this.#now
    if (scope === this.#newest) return
    this.#unlink(scope)
    this.#append(scope)
  }

  #append(scope: Scope): void {
    scope.older = this.#newest
    scope.newer = undefined
    if (this.#newest === undefined) this.#oldest = scope
    else this.#newest.newer = scope
    this.#newest = scope
  }

  #unlink({ older, newer }: Scope): void {
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
  }

  #remove(scope: Scope): void {
    this.#unlink(scope)
    this.#scopes.get(scope.kind)?.delete(scope.key)
    this.#count -= 1
  }
}
