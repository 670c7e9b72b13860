/**
 * [worker] Long text, a slice at a time. pino hands its worker up to 4 MiB at once: taken in one piece, these would be some
 * hundred batches, which wait while no reply is read and no request begun.
 */
import type { Pipeline } from '../pipeline.js'

/** Some 30 batches of the smallest records: so many may be in flight. */
const SLICE_CHARS = 256 * 1024
/** So much comes at once when this thread lags behind: what the app writes meanwhile must not wait for it. */
const OVERLAP_CHARS = 1024 * 1024
/**
 * What is shorter is on disk when the stream's `write` returns, with all before it: pino's `flushSync()` then knows it there. It
 * is the stream's own mark, beyond which `write` says that it is not done.
 */
const SHORT_CHARS = 16 * 1024

interface Waiting {
  readonly text: string
  /** Asks for more. */
  readonly done: () => void
}

export class Slices {
  readonly #pipeline: Pick<Pipeline, 'begin' | 'advance' | 'write'>
  /** The first is with the pipeline. */
  readonly #texts: Waiting[] = []

  constructor(pipeline: Pick<Pipeline, 'begin' | 'advance' | 'write'>) {
    this.#pipeline = pipeline
  }

  /** @param done is called when all of it is taken; of very long text as soon as it is begun */
  take(text: string, done: () => void): void {
    if (text.length < SHORT_CHARS) {
      this.finish()
      this.#pipeline.write(text)
      return done()
    }
    this.#texts.push({ text, done })
    if (this.#texts.length > 1) return
    this.#begin()
    this.#step()
  }

  /** All that waits, now. */
  finish(): void {
    while (this.#texts.length > 0) this.#advance(Infinity)
  }

  readonly #step = (): void => {
    if (this.#texts.length > 0 && this.#advance(SLICE_CHARS)) setImmediate(this.#step)
  }

  /** @returns whether there is more */
  #advance(maxChars: number): boolean {
    if (this.#pipeline.advance(maxChars)) return true
    const taken = this.#texts.shift()
    this.#begin()
    if (taken !== undefined && taken.text.length < OVERLAP_CHARS) taken.done()
    return this.#texts.length > 0
  }

  #begin(): void {
    const first = this.#texts[0]
    if (first === undefined) return
    this.#pipeline.begin(first.text)
    if (first.text.length >= OVERLAP_CHARS) first.done()
  }
}
