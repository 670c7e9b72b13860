/** Ids of what is stored: a prefix for the kind, a random part for this run of the service, and the `seq`. */
import { randomBytes } from 'node:crypto'
import type { RecordKind, Stored } from '../store/store.js'

const PREFIXES: Record<RecordKind, string> = {
  entry: 'ent',
  request: 'req',
  feedback: 'fbk',
  release: 'rel',
  heartbeat: 'hbt',
  rejected: 'rej',
}

export class RecordIds {
  /** Without it a second run on memory alone would give the ids of the first again. */
  readonly #run = randomBytes(4).toString('hex')
  #seq: number

  constructor(lastSeq: number) {
    this.#seq = lastSeq
  }

  next(kind: RecordKind, wallNowMs: number): Stored {
    const seq = ++this.#seq
    const id = `${PREFIXES[kind]}_${this.#run}_${seq.toString(36)}`
    return { id, seq, received_at: new Date(wallNowMs).toISOString() }
  }
}

/** The `seq` in an id; NaN where it is none of ours. */
export function parseSeq(id: string): number {
  return Number.parseInt(id.slice(id.lastIndexOf('_') + 1), 36)
}
