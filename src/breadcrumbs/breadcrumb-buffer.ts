/**
 * What was logged lately, by what it belongs to: a trace, a request, a session, or the process. An error takes the lines
 * of its own scope with it, and nobody gets them twice.
 */
import type { Clock } from '../shared/clock.js'
import { copyString, hashLongId } from '../record/string-copy.js'
import { LineBuffer } from './line-buffer.js'
import type { BufferedLine } from './line-buffer.js'

export interface BreadcrumbBufferOptions {
  /** Lines of one scope. */
  readonly limit: number
  /** Memory of all of them. */
  readonly maxBytes: number
  readonly clock: Pick<Clock, 'now'>
  /** Default 10,000; beyond them the one goes that was idle for longest. */
  readonly maxScopes?: number
  /** Milliseconds that an idle scope stays. Default 5 minutes. */
  readonly maxAgeMs?: number
}

const MAX_SCOPES = 10_000
const MAX_AGE_MS = 5 * 60_000

/** A chain of lines, and a place in the order of last use. */
interface Scope {
  key: string
  kind: string
  /** Number of its youngest line. */
  youngestLine: number
  /** Its lines begin there: those before were taken. */
  from: number
  /** The same before the last were taken. */
  takenFrom: number
  usedAt: number
  older: Scope | undefined
  younger: Scope | undefined
}

export class BreadcrumbBuffer {
  readonly #options: BreadcrumbBufferOptions
  readonly #maxScopes: number
  readonly #maxAgeMs: number
  readonly #lines: LineBuffer
  /** By kind: a request and a session may have the same id. */
  readonly #scopes = new Map<string, Map<string, Scope>>()
  #count = 0
  #oldest: Scope | undefined
  #youngest: Scope | undefined
  #now: number

  constructor(options: BreadcrumbBufferOptions) {
    this.#options = options
    this.#maxScopes = options.maxScopes ?? MAX_SCOPES
    this.#maxAgeMs = options.maxAgeMs ?? MAX_AGE_MS
    this.#lines = new LineBuffer(options.maxBytes)
    this.#now = options.clock.now()
  }

  /** Memory that the lines take. */
  get bytes(): number {
    return this.#lines.bytes
  }

  get scopes(): number {
    return this.#count
  }

  /** To be called before the lines of another text. Reads the clock, once for all of them. */
  open(): void {
    this.#now = this.#options.clock.now()
    for (
      let scope = this.#oldest;
      scope !== undefined && this.#now - scope.usedAt > this.#maxAgeMs;
      scope = this.#oldest
    )
      this.#remove(scope)
  }

  /** @param kind of the scope @param key its id @param isUsual see `Mapper` */
  add(kind: string, key: string, text: string, start: number, end: number, isUsual: boolean): void {
    const scope = this.#scopeOf(kind, key) ?? this.#newScope(kind, key)
    this.#touch(scope)
    scope.youngestLine = this.#lines.add(text, start, end, isUsual, scope.youngestLine)
  }

  /** The last lines of a scope, oldest first. They are forgotten. */
  take(kind: string, key: string): BufferedLine[] {
    const scope = this.#scopeOf(kind, key)
    if (scope === undefined) return []
    const lines = this.#lines.readChain(scope.youngestLine, scope.from, this.#options.limit)
    scope.takenFrom = scope.from
    scope.from = this.#lines.next
    return lines
  }

  /** What was taken last from a scope was of no use: the next gets it. */
  restore(kind: string, key: string): void {
    const scope = this.#scopeOf(kind, key)
    if (scope !== undefined) scope.from = scope.takenFrom
  }

  #scopeOf(kind: string, id: string): Scope | undefined {
    const key = hashLongId(id) ?? id
    // Most records in a row belong to the same.
    const last = this.#youngest
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

  /** The one that goes is used again: 10,000 new ones a second would all grow old, and cost the collector 0.4 us each. */
  #freeScope(): Scope {
    const oldest = this.#oldest
    if (this.#count < this.#maxScopes || oldest === undefined) {
      return {
        key: '',
        kind: '',
        youngestLine: -1,
        from: 0,
        takenFrom: 0,
        usedAt: this.#now,
        older: undefined,
        younger: undefined,
      }
    }
    this.#remove(oldest)
    oldest.youngestLine = -1
    oldest.from = oldest.takenFrom = 0
    oldest.usedAt = this.#now
    return oldest
  }

  #touch(scope: Scope): void {
    scope.usedAt = this.#now
    if (scope === this.#youngest) return
    this.#unlink(scope)
    this.#append(scope)
  }

  #append(scope: Scope): void {
    scope.older = this.#youngest
    scope.younger = undefined
    if (this.#youngest === undefined) this.#oldest = scope
    else this.#youngest.younger = scope
    this.#youngest = scope
  }

  #unlink({ older, younger }: Scope): void {
    if (older === undefined) this.#oldest = younger
    else older.younger = younger
    if (younger === undefined) this.#youngest = older
    else younger.older = older
  }

  #remove(scope: Scope): void {
    this.#unlink(scope)
    this.#scopes.get(scope.kind)?.delete(scope.key)
    this.#count -= 1
  }
}
