/** The entries of the app on their way through batcher and log. The ledger records them when they are written. */
import type { EntryLog } from '../../src/spool/entry-log.js'
import type { Clock } from '../../src/shared/clock.js'
import type { Batch } from '../../src/batch/batch.js'
import type { Ledger } from './model-ledger.js'
import type { ProcessRun } from './process-run.js'
import type { Profile } from './model-steps.js'

export interface InputOptions {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly profile: Profile
  readonly run: () => ProcessRun
  /** Whether the limit is low enough to be reached. */
  readonly isBounded: boolean
}

export class Input {
  readonly #options: InputOptions
  #serial = 0
  /** Added to the batcher, not yet passed to the log. */
  #unlogged: string[] = []
  /** Passed to the log, perhaps not yet written. */
  readonly #unwritten = new Set<string>()

  constructor(options: InputOptions) {
    this.#options = options
  }

  nextId(): string {
    return `00000000-0000-4000-8000-${(this.#serial++).toString(16).padStart(12, '0')}`
  }

  /** The process is dead: entries that were not written are lost. */
  forget(): void {
    this.#unlogged = []
    this.#unwritten.clear()
  }

  watch(log: EntryLog): EntryLog {
    return {
      append: (batchId, first, count, rank, text) => {
        const { texts } = this.#options.ledger.begin(batchId)
        texts.push(...this.#unlogged.splice(0, count))
        if (texts.slice(first).join() !== Buffer.from(text).toString())
          throw new Error(`other entries than were added are logged as ${batchId}`)
        this.#unwritten.add(batchId)
        log.append(batchId, first, count, rank, text)
      },
      flush: () => {
        const isKept = log.flush()
        this.#written()
        return isKept
      },
      seal: (batch) => {
        const sealed = log.seal(batch)
        this.#written()
        if (sealed === undefined) return undefined
        const known = this.#options.ledger.get(batch.batchId)
        known.isSealed = sealed.place !== undefined
        if (!known.isGone && !known.isSealed) throw new Error(`${batch.batchId} is not on disk`)
        return sealed
      },
    }
  }

  #written(): void {
    for (const id of this.#unwritten) {
      const batch = this.#options.ledger.get(id)
      // The limit is reached because of folders that no process may claim yet.
      batch.isGone = this.#options.run().spool.log.current === undefined && this.#options.isBounded
      if (batch.isGone) continue
      batch.onDisk = new Set(batch.texts.keys())
      batch.writtenAt = this.#options.clock.now()
    }
    this.#unwritten.clear()
  }

  append(count: number, seed: number, isCommitted: boolean): void {
    for (let n = 0; n < count; n += 1) {
      const text = this.#entry(seed >> n)
      this.#unlogged.push(text)
      this.#options.run().add(text, seed % 5)
    }
    if (isCommitted) this.#options.run().batcher.commit()
  }

  /** Without the batcher: frames of several entries. */
  direct(frames: number, seed: number): Batch {
    this.#options.run().batcher.seal()
    const log = this.watch(this.#options.run().spool.log)
    const batchId = this.nextId()
    const texts: string[] = []
    for (let frame = 0; frame < frames; frame += 1) {
      const own = Array.from({ length: 1 + ((seed >> frame) % 3) }, (_, n) => this.#entry(seed >> n))
      this.#unlogged.push(...own)
      log.append(batchId, texts.length, own.length, frame % 5, Buffer.from(own.join()))
      texts.push(...own)
      if ((seed >> frame) % 2 === 0) log.flush()
    }
    this.#options.run().account.received += texts.length
    const body = Buffer.from(`{"batch_id":"${batchId}","logs":[${texts.join()}]}`)
    const sealed = log.seal({ batchId, count: texts.length, highestSeverity: 4, body })
    if (sealed === undefined) throw new Error(`${batchId} was lost to another process`)
    return sealed
  }

  #entry(seed: number): string {
    const text = seed % 4 === 0 ? 'é"\\\n{[,]}\u{1f600}' : 'x'.repeat(seed % this.#options.profile.padding)
    return JSON.stringify({ n: this.#serial++, text })
  }
}
