/** Gunzip, a piece at a time: what a piece makes is all there when `push` resolves, and what came before a fault is not lost. */
import { createGunzip } from 'node:zlib'
import type { Gunzip } from 'node:zlib'

export interface Inflated {
  readonly blocks: readonly Buffer[]
  /** zlib's words; nothing can be pushed afterwards. */
  readonly failure?: string
}

const CHUNK_BYTES = 64 * 1024

export class Inflater {
  readonly #gunzip: Gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  #blocks: Buffer[] = []
  #failure: string | undefined
  #hasEnded = false
  #wake: () => void = () => {}

  constructor() {
    this.#gunzip.on('data', (block: Buffer) => this.#blocks.push(block))
    this.#gunzip.on('error', (error) => {
      this.#failure = error.message
      this.#wake()
    })
    // With zeros behind the last member it comes before the end of what is pushed.
    this.#gunzip.on('end', () => {
      this.#hasEnded = true
      this.#wake()
    })
  }

  /** Members may follow each other. Never rejects; one call at a time. */
  push(piece: Buffer): Promise<Inflated> {
    return this.#run((done) =>
      this.#gunzip.write(piece, (error) => {
        // A fault is told by the event, which comes later.
        if (error === undefined || error === null) done()
      }),
    )
  }

  /** No more comes. */
  end(): Promise<Inflated> {
    // Its callback comes before what is left is inflated.
    return this.#run((done) => {
      this.#gunzip.end()
      if (this.#hasEnded) done()
    })
  }

  close(): void {
    this.#gunzip.destroy()
  }

  async #run(start: (done: () => void) => void): Promise<Inflated> {
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        start(resolve)
      })
    }
    const blocks = this.#blocks
    this.#blocks = []
    return { blocks, ...(this.#failure !== undefined && { failure: this.#failure }) }
  }
}
