/** Holds cut batches until each is settled: sent, refused, or dropped at a named bound. */
import { setMaxListeners } from 'node:events'
import type { Account } from '../account.js'
import type { Clock } from '../clock.js'
import { LEVELS } from '../protocol/entry.js'
import type { Report } from '../report.js'
import type { Batch, Outcome, Sender } from '../sender.js'
import { Fifo } from './fifo.js'
import type { Gate } from './gate.js'

export interface DeliveryOptions {
  /** Gives a final outcome: `delivered`, `refused` or `given-up`. */
  readonly sender: Sender
  /** The gate that `sender` waits at. Batches that it would not let pass stay in the queue, where they can be dropped. */
  readonly gate: Pick<Gate, 'limit' | 'trouble' | 'hurry'>
  readonly clock: Clock
  /** Bytes of all bodies that wait or are in flight. */
  readonly maxBufferBytes: number
  readonly account: Account
  readonly report: Pick<Report, 'delivered' | 'rejected' | 'dropped' | 'problem'>
}

interface Held {
  readonly order: number
  readonly batch: Batch
}

interface FlushWaiter {
  /** Resolves when everything of a lower order is settled. */
  readonly before: number
  readonly resolve: () => void
}

/** What a batch takes beside its body: buffer, promise, its place in the lines. Measured with batches of one entry. */
const BATCH_OVERHEAD_BYTES = 1_024

/** Share of `maxBufferBytes` from which new entries of a rank (debug, info) are refused; others never are. */
const REFUSE_FROM = [0.8, 0.9] as const

export class Delivery {
  readonly #options: DeliveryOptions
  readonly #abort = new AbortController()
  readonly #waiting = new Fifo<Held>()
  /** By order; the first is the oldest. */
  readonly #inFlight = new Map<number, Batch>()
  readonly #flushes: FlushWaiter[] = []
  #nextOrder = 0
  #pendingEntries = 0
  #waitingBytes = 0
  #inFlightBytes = 0
  #drained: Promise<void> | undefined
  #closed = false
  /** Lost entries not yet told: what an exit costs is told in one message at its end. */
  #untold = 0

  constructor(options: DeliveryOptions) {
    this.#options = options
    // Every batch in flight listens to it.
    setMaxListeners(0, this.#abort.signal)
  }

  /** Entries that wait or are in flight. */
  get pendingEntries(): number {
    return this.#pendingEntries
  }

  /** Memory of the batches that wait or are in flight. */
  get pendingBytes(): number {
    return this.#waitingBytes + this.#inFlightBytes
  }

  /**
   * Whether there is room for a new entry. Near the bound there is none for debug, then none for info, so that the
   * room left is kept for what matters more. For an entry turned away call `refuse`.
   * @param rank the level's position in `LEVELS`
   */
  admits(rank: number): boolean {
    const from = REFUSE_FROM[rank]
    return from === undefined || this.pendingBytes < from * this.#options.maxBufferBytes
  }

  /** Counts and tells an entry that `admits` turned away. */
  refuse(): void {
    this.#drop(1, 'new entries of level debug and info are refused while memory is short')
  }

  /** Takes the batch in any case; never blocks and never throws. What does not fit costs the oldest that waits. */
  enqueue(batch: Batch): void {
    const bytes = bytesOf(batch)
    if (this.#closed) return this.#lose(batch.count, 'logged after the transport was closed')
    if (this.#inFlightBytes + bytes > this.#options.maxBufferBytes) {
      return this.#drop(batch.count, 'a batch does not fit into memory beside those in flight')
    }
    this.#waiting.push({ order: this.#nextOrder++, batch })
    this.#waitingBytes += bytes
    this.#pendingEntries += batch.count
    while (this.pendingBytes > this.#options.maxBufferBytes) this.#dropOldest()
    this.#startWaiting()
  }

  /** Resolves when everything enqueued before is delivered, refused or dropped. Never rejects. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#flushes.push({ before: this.#nextOrder, resolve })
      this.#resolveFlushes()
    })
  }

  /**
   * The app ends. Waits at most `timeoutMs` for everything to settle, then ends the requests in flight, and counts and
   * tells what is left as dropped. Nothing is taken afterwards. Never rejects; a second call joins the first.
   */
  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs)
    return this.#drained
  }

  /** The process ends in this very turn: what `drain` does at its deadline, now. */
  abandon(): void {
    this.#drained ??= Promise.resolve()
    this.#close('the process ended before they were delivered')
  }

  async #drain(timeoutMs: number): Promise<void> {
    const { clock, gate } = this.#options
    const deadlineAt = clock.now() + timeoutMs
    gate.hurry(deadlineAt)
    await new Promise<void>((resolve) => {
      const cancelTimer = clock.timer(timeoutMs, resolve)
      void this.#untilIdle().then(cancelTimer).then(resolve)
    })
    this.#close(`not to be delivered at exit, which has ${timeoutMs} ms (shutdownTimeoutMs)`)
  }

  /** Also what is enqueued meanwhile. */
  async #untilIdle(): Promise<void> {
    while (this.#pendingEntries > 0) await this.flush()
  }

  #close(why: string): void {
    const left = this.#pendingEntries
    this.#closed = true
    this.#pendingEntries = this.#waitingBytes = this.#inFlightBytes = 0
    while (this.#waiting.shift() !== undefined);
    this.#inFlight.clear()
    this.#abort.abort()
    const lastFailure = this.#options.gate.trouble ?? 'none, the service was still at work'
    this.#lose(left, `${why}; last failure: ${lastFailure}`)
    this.#resolveFlushes()
  }

  #startWaiting(): void {
    while (this.#inFlight.size < this.#options.gate.limit) {
      const held = this.#waiting.shift()
      if (held === undefined) return
      const { order, batch } = held
      this.#waitingBytes -= bytesOf(batch)
      this.#inFlightBytes += bytesOf(batch)
      this.#inFlight.set(order, batch)
      void this.#deliver(order, batch)
    }
  }

  async #deliver(order: number, batch: Batch): Promise<void> {
    let outcome: Outcome
    try {
      outcome = await this.#options.sender.send(batch, this.#abort.signal)
    } catch (bug) {
      // A sender never rejects; should one, the entries are counted and told all the same.
      outcome = { kind: 'given-up', reason: String(bug) }
    }
    this.#settle(order, batch, outcome)
  }

  #settle(order: number, batch: Batch, outcome: Outcome): void {
    // Counted as dropped at the deadline already.
    if (!this.#inFlight.delete(order)) return
    this.#inFlightBytes -= bytesOf(batch)
    this.#pendingEntries -= batch.count
    this.#book(batch, outcome)
    this.#startWaiting()
    this.#resolveFlushes()
  }

  #book(batch: Batch, outcome: Outcome): void {
    const { account, report } = this.#options
    switch (outcome.kind) {
      case 'delivered': {
        const rejected = batch.count - outcome.accepted
        account.accepted += outcome.accepted
        account.rejected += rejected
        if (outcome.accepted > 0) report.delivered(outcome.accepted, batch.batchId)
        if (rejected > 0) report.rejected(rejected, outcome.rejected, outcome.rejected[0]?.message ?? 'no reason given')
        if (outcome.unreadable) {
          report.problem('MISDIRECTED', 'a reply is not an ingest result; its batch counts as accepted. Check the url')
        }
        return
      }
      case 'refused':
        account.rejected += batch.count
        return report.rejected(batch.count, outcome.rejected, outcome.reason)
      case 'given-up':
      case 'later':
      case 'misconfigured':
        return this.#lose(batch.count, outcome.reason)
    }
  }

  #dropOldest(): void {
    const held = this.#waiting.shift()
    if (held === undefined) return
    const { batch } = held
    this.#waitingBytes -= bytesOf(batch)
    this.#pendingEntries -= batch.count
    const { gate, maxBufferBytes } = this.#options
    const why = gate.trouble ?? 'the service takes them slower than they come'
    const level = LEVELS[batch.highestRank]
    this.#drop(batch.count, `maxBufferBytes ${maxBufferBytes} is full, the oldest went, up to level ${level}; ${why}`)
  }

  #drop(count: number, detail: string): void {
    this.#options.account.dropped.buffer += count
    this.#options.report.dropped(count, 'buffer', detail)
  }

  #lose(count: number, detail: string): void {
    this.#options.account.dropped.shutdown += count
    this.#untold += count
    const draining = this.#drained !== undefined && !this.#closed
    if (draining || this.#untold === 0) return
    this.#options.report.dropped(this.#untold, 'shutdown', detail)
    this.#untold = 0
  }

  #resolveFlushes(): void {
    if (this.#flushes.length === 0) return
    const [oldest] = this.#inFlight.keys()
    // Batches start in their order, so that none that waits is older than one in flight; and where none is, none waits.
    const settledBelow = oldest ?? this.#nextOrder
    while (this.#flushes[0] !== undefined && this.#flushes[0].before <= settledBelow) this.#flushes.shift()?.resolve()
  }
}

function bytesOf({ body }: Batch): number {
  return body.length + BATCH_OVERHEAD_BYTES
}
