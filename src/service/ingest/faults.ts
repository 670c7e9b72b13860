/** Manages the scripted faults and selects the one that applies to a request. */
import { createHash } from 'node:crypto'
import type { Endpoint } from '../endpoints.js'
import { parseFault } from './fault-parser.js'
import type { Fault, RejectForm } from './fault.js'

/** Decides which entries a fault rejects. Each fault has its own rejector, because `nth` counts across requests. */
export interface Rejector {
  readonly form: RejectForm
  rejects(entry: unknown): boolean
}

/** A fault that has not ended. */
export interface ActiveFault {
  /** The fault that was added. */
  readonly fault: Fault
  /** Number of requests that the fault was applied to. */
  readonly hits: number
}

interface Slot {
  readonly fault: Fault
  readonly rejector: Rejector | undefined
  readonly endsAtMs: number
  hits: number
}

/** If several faults apply to a request, the one that was added first is used. */
export class Faults {
  readonly #now: () => number
  #slots: Slot[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Adds a fault after the others; returns a function that removes it.
   * @throws IngestServiceError `FAULT` if it is not well-formed.
   */
  add(input: Fault): () => void {
    const fault = parseFault(input)
    const endsAtMs = this.#now() + (fault.forMs ?? Infinity)
    const slot: Slot = { fault, rejector: createRejector(fault), endsAtMs, hits: 0 }
    this.#slots.push(slot)
    return () => {
      this.#slots = this.#slots.filter((other) => other !== slot)
    }
  }

  /** Removes every fault. Requests that hang or are delayed already are not affected. */
  clear(): void {
    this.#slots = []
  }

  /** Faults that have not ended. */
  list(): readonly ActiveFault[] {
    this.#removeEnded()
    return this.#slots.map(({ fault, hits }) => ({ fault, hits }))
  }

  /** The fault for a request to `endpoint`. Counts as a hit. */
  take(endpoint: Endpoint): { readonly fault: Fault; readonly rejector: Rejector | undefined } | undefined {
    this.#removeEnded()
    const slot = this.#slots.find(({ fault }) => applies(fault, endpoint))
    if (slot !== undefined) slot.hits++
    return slot
  }

  #removeEnded(): void {
    const now = this.#now()
    this.#slots = this.#slots.filter(({ fault, endsAtMs, hits }) => now < endsAtMs && hits < (fault.times ?? Infinity))
  }
}

function applies(fault: Fault, endpoint: Endpoint): boolean {
  if (fault.endpoint !== undefined && fault.endpoint !== endpoint) return false
  return endpoint === 'ingest' || (fault.kind !== 'reject-every' && fault.kind !== 'reject-containing')
}

function createRejector(fault: Fault): Rejector | undefined {
  if (fault.kind === 'reject-containing') {
    const { text, form = 'result' } = fault
    return { form, rejects: (entry) => JSON.stringify(entry).includes(text) }
  }
  if (fault.kind !== 'reject-every') return undefined
  const { nth, form = 'result' } = fault
  const verdicts = new Map<string, boolean>()
  const rejects = (entry: unknown): boolean => {
    const key = createHash('sha1').update(JSON.stringify(entry)).digest('base64')
    const verdict = verdicts.get(key) ?? (verdicts.size + 1) % nth === 0
    verdicts.set(key, verdict)
    return verdict
  }
  return { form, rejects }
}
