/** The script of faults: which of them applies to a request, and until when. */
import { createHash } from 'node:crypto'
import type { Endpoint } from '../http/endpoints.js'
import type { Fault, RejectForm } from './fault.js'
import { parseFault } from './fault-parser.js'

/** Judges entries for a reject fault; kept with it, since `nth` counts over requests. */
export interface Rejector {
  readonly form: RejectForm
  refuses(entry: unknown): boolean
}

export interface ActiveFault {
  readonly fault: Fault
  /** Requests it was applied to. */
  readonly hits: number
}

/** What {@link Faults.take} hands to the exchange. */
export interface TakenFault {
  readonly fault: Fault
  readonly rejector: Rejector | undefined
}

interface Slot {
  readonly fault: Fault
  readonly rejector: Rejector | undefined
  readonly endsAtMs: number
  hits: number
}

/** The script: of the faults that apply to a request, the one added first is played. */
export class Faults {
  readonly #now: () => number
  #slots: Slot[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Adds a fault behind those that are there; returns a function that takes it away.
   * @throws IngestServiceError `FAULT` where it is not well-formed.
   */
  add(input: Fault): () => void {
    const fault = parseFault(input)
    const endsAtMs = this.#now() + (fault.forMs ?? Infinity)
    const slot: Slot = { fault, rejector: rejectorOf(fault), endsAtMs, hits: 0 }
    this.#slots.push(slot)
    return () => {
      this.#slots = this.#slots.filter((other) => other !== slot)
    }
  }

  /** Ends every fault; what hangs or waits already is not called back. */
  clear(): void {
    this.#slots = []
  }

  /** Those that are not over. */
  list(): readonly ActiveFault[] {
    this.#dropEnded()
    return this.#slots.map(({ fault, hits }) => ({ fault, hits }))
  }

  /** The fault for a request to `endpoint`, counted as played. */
  take(endpoint: Endpoint): TakenFault | undefined {
    if (this.#slots.length === 0) return undefined
    this.#dropEnded()
    const slot = this.#slots.find(({ fault }) => applies(fault, endpoint))
    if (slot !== undefined) slot.hits++
    return slot
  }

  #dropEnded(): void {
    const now = this.#now()
    this.#slots = this.#slots.filter(({ fault, endsAtMs, hits }) => now < endsAtMs && hits < (fault.times ?? Infinity))
  }
}

function applies(fault: Fault, endpoint: Endpoint): boolean {
  if (fault.endpoint !== undefined && fault.endpoint !== endpoint) return false
  return endpoint === 'ingest' || (fault.kind !== 'reject-every' && fault.kind !== 'reject-containing')
}

/** Verdicts remembered by a `reject-every`; beyond it the oldest are forgotten. */
const MAX_VERDICTS = 200_000

function rejectorOf(fault: Fault): Rejector | undefined {
  if (fault.kind === 'reject-containing') {
    const { text, form = 'result' } = fault
    return { form, refuses: (entry) => JSON.stringify(entry).includes(text) }
  }
  if (fault.kind !== 'reject-every') return undefined
  const { nth, form = 'result' } = fault
  const verdicts = new Map<string, boolean>()
  let seen = 0
  const refuses = (entry: unknown): boolean => {
    const key = createHash('sha1').update(JSON.stringify(entry)).digest('base64')
    const known = verdicts.get(key)
    if (known !== undefined) return known
    const verdict = ++seen % nth === 0
    verdicts.set(key, verdict)
    if (verdicts.size > MAX_VERDICTS) verdicts.delete(verdicts.keys().next().value as string)
    return verdict
  }
  return { form, refuses }
}
