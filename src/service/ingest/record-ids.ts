/** Creates ids of stored records from a prefix for the kind, a random part for this run of the service, and the `seq`. */
import { randomBytes } from 'node:crypto'
import type { RecordKind, Stored } from '../store/stored-record.js'

const PREFIXES: Record<RecordKind, string> = {
  entry: 'ent',
  request: 'req',
  feedback: 'fbk',
  release: 'rel',
  heartbeat: 'hbt',
  rejected: 'rej',
}

export class RecordIds {
  /** Makes ids unique across runs: without a journal, every run starts at `seq` 1. */
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
