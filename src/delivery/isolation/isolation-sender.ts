/**
 * Finds out which entries the service refuses, sets them aside, and brings the others through.
 *
 * Where a reply names them, that is all. Where it names none, the batch is halved until the bad entry stands alone; but
 * the fault may be that of a gateway which refuses everything, and then nothing may be set aside. So an entry goes only
 * on evidence: its batch was refused, then something was accepted that was begun after that, then the entry alone was
 * refused when it was sent after that.
 *
 * While there is no evidence one batch at a time is searched for some: down its left halves to one entry, then up the
 * halves beside them. If all of these are refused, everything is, as far as anybody knows: the gate lets one probe pass
 * each minute, and each batch that was refused takes its next place at the end of the line, so that none blocks the
 * others. Its first probe is the whole batch, its next a single entry, in turns: there may be a bad entry in each batch.
 */
import type { DeadLetter, Outcome, Refused, Sender } from '../../batch/sender.js'
import type { CircuitBreaker } from '../retry/circuit-breaker.js'
import { BatchProgress } from './batch-progress.js'
import type { SubBatch } from './batch-progress.js'

export interface IsolationOptions {
  /** Gives final outcomes: `delivered`, `refused` or `given-up`. */
  readonly inner: Sender
  /** The gate that `inner` waits at. */
  readonly gate: Pick<CircuitBreaker, 'rejections' | 'limitToOne' | 'rejectsEverything' | 'suspend'>
  /** Whether a single one that is too large for the service may be shortened, as a log entry may. Default true. */
  readonly isShortenable?: boolean
  /** Keeps entries that were refused. Should it throw, the batch is given up. Default: nothing keeps them. */
  readonly deadLetter?: (letters: readonly DeadLetter[]) => void
}

/** Shared by all batches of a sender. */
interface Search {
  isOn: boolean
}

/** Never rejects. What comes out is `delivered`, or `given-up` with what was settled before. */
export function createIsolationSender(options: IsolationOptions): Sender {
  const search: Search = { isOn: false }
  return {
    async send(batch, signal) {
      const parcel = new BatchProgress(batch, options.deadLetter ?? (() => {}))
      const passage = new Passage(options, search, parcel, signal)
      try {
        const probes = options.gate.rejections.isRejectingAll ? 1 : 0
        const first = await options.inner.send(batch, signal)
        // Nearly all are: books of their entries would take 4 % of the worker's time.
        if (first.kind === 'delivered' && first.accepted === batch.count && first.rejected.length === 0) {
          batch.acknowledgement?.acknowledge()
          return first
        }
        await passage.deliver(parcel.whole, undefined, first, probes)
      } catch (bug) {
        // Not to happen. What is not settled is counted as given up, and told.
        parcel.abandon(String(bug))
      } finally {
        passage.end()
      }
      return parcel.outcome
    },
  }
}

/** What was refused without a name; `wasProven`: there was evidence when it was sent. */
interface Refusal {
  readonly piece: SubBatch
  readonly outcome: Refused
  readonly wasProven: boolean
}

/** A piece that is cut when it is sent, since that is recorded. */
interface Segment {
  readonly cut: () => SubBatch
  refusal?: Refusal
}

/** A lone entry that was refused waits so long for others to be accepted, then is the next probe. */
const HOLD_MS = 60_000

class Passage {
  readonly #options: IsolationOptions
  readonly #search: Search
  readonly #parcel: BatchProgress
  readonly #signal: AbortSignal
  /** Attempts begun when the first refusal came. */
  #refusedAfter: number | undefined
  #hasHeld = false
  #unpark: (() => void) | undefined

  constructor(options: IsolationOptions, search: Search, parcel: BatchProgress, signal: AbortSignal) {
    this.#options = options
    this.#search = search
    this.#parcel = parcel
    this.#signal = signal
  }

  /**
   * @param refusal of this piece, where it was sent before @param outcome of that, where nobody has looked at it @param probes so far
   * @returns false where it was given up
   */
  async deliver(start: SubBatch, refusal?: Refusal, outcome?: Outcome, probes = 0): Promise<boolean> {
    let piece: SubBatch | undefined = start
    let next = refusal
    while (piece !== undefined) {
      if (next === undefined) {
        const sent: SubBatch =
          outcome === undefined && this.#evidence.isRejectingAll ? this.#parcel.probe(piece, probes++) : piece
        const result = await this.#send(sent, outcome)
        outcome = undefined
        if (result === 'given-up') return false
        if (result === 'settled' || sent !== piece) {
          piece = this.#parcel.remaining(piece)
          continue
        }
        next = result
      }
      const answer: SubBatch | boolean | undefined = await this.#answer(next)
      if (typeof answer === 'boolean') return answer
      piece = answer
      next = undefined
    }
    return true
  }

  /** The batch waits for news no more. */
  end(): void {
    this.#unpark?.()
    this.#unpark = undefined
  }

  get #evidence(): CircuitBreaker['rejections'] {
    return this.#options.gate.rejections
  }

  get #isProven(): boolean {
    return this.#refusedAfter !== undefined && this.#evidence.hasAcceptedSince(this.#refusedAfter)
  }

  /** Until all of it is settled, or what the service did not name was refused. */
  async #send(piece: SubBatch, first?: Outcome): Promise<Refusal | 'settled' | 'given-up'> {
    for (let open: SubBatch | undefined = piece; open !== undefined; open = this.#parcel.remaining(open)) {
      const wasProven = this.#isProven
      const outcome = first ?? (await this.#options.inner.send(open.batch, this.#signal))
      first = undefined
      if (outcome.kind === 'delivered') {
        this.#parcel.recordDelivered(open, outcome)
      } else if (outcome.kind === 'refused') {
        this.#refusedAfter ??= outcome.begunBefore ?? this.#evidence.attemptsBegun
        const isTooLarge = outcome.status === 413
        const isShortenable = this.#options.isShortenable !== false
        const shortened =
          isTooLarge && isShortenable && open.batch.count === 1 ? this.#parcel.shortened(open) : undefined
        const named = isTooLarge ? 0 : this.#parcel.recordRejected(open, outcome.rejected, outcome.status)
        if (shortened === undefined && named === 0) return { piece: open, outcome, wasProven }
        open = shortened ?? open
      } else {
        this.#parcel.abandon(outcome.reason)
        return 'given-up'
      }
    }
    return 'settled'
  }

  /** @returns whether it was brought through to the end, or else what is to be sent again */
  async #answer(refusal: Refusal): Promise<boolean | SubBatch | undefined> {
    const { piece, outcome, wasProven } = refusal
    const isSingle = piece.batch.count === 1
    if (!this.#isProven) {
      const { rejectsAllCount: verdicts } = this.#evidence
      const found = await this.#await(refusal)
      if (found !== undefined) return found
      // Without a verdict it is still known to hold a bad entry; after one it was perhaps the gateway.
      if (!this.#isProven || isSingle || this.#evidence.rejectsAllCount !== verdicts)
        return this.#parcel.remaining(piece)
    }
    this.end()
    if (!isSingle) return this.#halve(piece)
    if (!wasProven) return piece
    this.#parcel.recordRejectedAlone(piece, outcome)
    return true
  }

  async #halve(piece: SubBatch): Promise<boolean> {
    return (await this.deliver(this.#parcel.half(piece, 0))) && this.deliver(this.#parcel.half(piece, 1))
  }

  /** Nothing speaks for the service. @returns undefined when there is news, or a verdict */
  async #await(refusal: Refusal): Promise<boolean | undefined> {
    const { gate } = this.#options
    gate.limitToOne()
    this.#unpark ??= gate.suspend()
    // Lines up again, behind the others.
    if (this.#evidence.isRejectingAll) return undefined
    if (this.#search.isOn) {
      await this.#evidence.until(
        () => !this.#search.isOn || this.#isProven || this.#evidence.isRejectingAll,
        this.#signal,
      )
      return undefined
    }
    if (refusal.piece.batch.count > 1) return this.#seek(refusal)
    if (this.#hasHeld) {
      gate.rejectsEverything(refusal.outcome)
      return undefined
    }
    this.#hasHeld = true
    const isOver = (): boolean => this.#isProven || this.#evidence.isRejectingAll || this.#evidence.isShuttingDown
    await this.#evidence.until(isOver, this.#signal, HOLD_MS)
    return undefined
  }

  async #seek(refusal: Refusal): Promise<boolean | undefined> {
    let segments: readonly Segment[] | undefined
    this.#search.isOn = true
    try {
      segments = await this.#segments(refusal)
    } finally {
      this.#search.isOn = false
      this.#evidence.notify()
    }
    if (segments === undefined) return false
    if (this.#parcel.remaining(refusal.piece) === undefined) return true
    if (!this.#isProven) {
      if (!this.#evidence.isRejectingAll) this.#options.gate.rejectsEverything(refusal.outcome)
      return undefined
    }
    this.end()
    for (const segment of segments) {
      if (!(await this.deliver(segment.refusal?.piece ?? segment.cut(), segment.refusal))) return false
    }
    return true
  }

  /**
   * Down the left halves to one entry, then up the halves beside them, until there is evidence.
   * @returns what the piece consists of now; undefined where it was given up
   */
  async #segments(start: Refusal): Promise<readonly Segment[] | undefined> {
    const beside: Segment[] = []
    let left: Refusal | undefined = start
    while (left !== undefined && left.piece.batch.count > 1 && !this.#isProven) {
      const { piece }: Refusal = left
      beside.unshift({ cut: () => this.#parcel.half(piece, 1) })
      const result = await this.#send(this.#parcel.half(piece, 0))
      if (result === 'given-up') return undefined
      left = result === 'settled' ? undefined : result
    }
    const segments: Segment[] = []
    if (left !== undefined) {
      const { piece } = left
      segments.push({ cut: () => piece, refusal: left })
    }
    for (const segment of beside) {
      const result = this.#isProven ? undefined : await this.#send(segment.cut())
      if (result === 'given-up') return undefined
      if (result !== 'settled') segments.push(result === undefined ? segment : { ...segment, refusal: result })
    }
    return segments
  }
}
