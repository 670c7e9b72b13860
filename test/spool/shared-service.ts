/** A service for two owners. Reports violations: an entry that arrives twice without a reason, an id with two contents. */
import { parseBatchEntries } from '../../src/batch/sub-batch.js'
import type { Batch } from '../../src/batch/batch.js'

export interface KnownEntry {
  /** Whether the spool reported it as written. */
  isOnDisk: boolean
  /** How often the service accepted it or it was set aside. */
  copies: number
  mayBeLost: boolean
  mayComeAgain: boolean
}

export class SharedService {
  readonly entries: KnownEntry[] = []
  /** Numbers of dead letters that must be readable at the end. */
  readonly setAside = new Set<number>()
  readonly #bodies = new Map<string, string>()
  readonly #violations: string[] = []

  get violations(): readonly string[] {
    return this.#violations
  }

  violated(what: string): void {
    this.#violations.push(what)
  }

  /** @returns the number of a new entry */
  begin(): number {
    return this.entries.push({ isOnDisk: false, copies: 0, mayBeLost: false, mayComeAgain: false }) - 1
  }

  entry(n: number): KnownEntry {
    const entry = this.entries[n]
    if (entry === undefined) throw new Error(`entry ${n} was never logged`)
    return entry
  }

  /** @param positions the accepted entries; default: all */
  take(batch: Batch, positions?: readonly number[]): void {
    const body = Buffer.from(batch.body).toString()
    const known = this.#bodies.get(batch.batchId)
    if (known !== undefined && known !== body)
      this.violated(
        `two contents: ${batch.batchId} has ${numbersIn(batch).join()}, and came with ${[...known.matchAll(/"n":(\d+)/g)].map(([, n]) => n).join()}`,
      )
    this.#bodies.set(batch.batchId, body)
    const numbers = numbersIn(batch)
    for (const n of positions === undefined ? numbers : positions.map((at) => numbers[at] as number)) {
      const entry = this.entry(n)
      if (entry.copies > 0 && !entry.mayComeAgain) this.violated(`twice: entry ${n}, in ${batch.batchId}`)
      entry.copies += 1
    }
  }

  /** Checks for lost entries, at the end. */
  audit(): void {
    const lost = [...this.entries.keys()].filter(
      (n) => this.entries[n]?.copies === 0 && this.entries[n]?.mayBeLost === false,
    )
    if (lost.length > 0) this.#violations.unshift(`lost: ${lost.join()}`)
  }
}

export function numbersIn(batch: Batch): number[] {
  return parseBatchEntries(batch.body).map((entry) => (JSON.parse(entry) as { n: number }).n)
}
