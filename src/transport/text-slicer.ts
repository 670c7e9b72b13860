/**
 * [worker] Takes long text a slice at a time. pino hands its worker up to 4 MiB at once: taken in one piece, these would be some
 * hundred batches, which wait while no reply is read and no request begun.
 *
 * More text is asked for as soon as a text is begun. pino then counts it as read, and at an exit that matters: pino waits up to
 * 10 s until all is read, and another 10 s for the end. A worker that is slow to start has used much of the first.
 */
import type { Pipeline } from '../pipeline/pipeline.js'

/** Some 30 batches of the smallest records: so many may be in flight. */
const SLICE_CHARS = 256 * 1024

interface Waiting {
  readonly text: string
  /** Asks for more. */
  readonly done: () => void
}

export class TextSlicer {
  readonly #pipeline: Pick<Pipeline, 'begin' | 'advance'>
  /** The first is with the pipeline. */
  readonly #texts: Waiting[] = []

  constructor(pipeline: Pick<Pipeline, 'begin' | 'advance'>) {
    this.#pipeline = pipeline
  }

  /**
   * Text of one slice, with nothing before it, is taken when this returns.
   * @param done is called when `text` is begun: at once, or when all before it is taken
   */
  add(text: string, done: () => void): void {
    this.#texts.push({ text, done })
    if (this.#texts.length > 1) return
    this.#begin()
    if (text.length <= SLICE_CHARS) this.#step()
    else setImmediate(this.#step)
  }

  /** All that waits, now. Not what comes meanwhile: an app that goes on logging would have no end of it. */
  finish(): void {
    for (let left = this.#texts.length; left > 0; left -= 1) this.#advance(Infinity)
  }

  readonly #step = (): void => {
    if (this.#texts.length > 0 && this.#advance(SLICE_CHARS)) setImmediate(this.#step)
  }

  /** @returns whether there is more */
  #advance(maxChars: number): boolean {
    if (this.#pipeline.advance(maxChars)) return true
    this.#texts.shift()
    this.#begin()
    return this.#texts.length > 0
  }

  #begin(): void {
    const first = this.#texts[0]
    if (first === undefined) return
    this.#pipeline.begin(first.text)
    first.done()
  }
}
