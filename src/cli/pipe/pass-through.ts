/** stdin's bytes to stdout, for as long as somebody reads them. */
import type { Writable } from 'node:stream'

interface PassThroughEvents {
  /** There is room again after `write` returned false. */
  readonly onRoom: () => void
  /** Nothing more can be written; not called where the reader just went away. */
  readonly onFailure: (error: NodeJS.ErrnoException) => void
}

export class PassThrough {
  readonly #out: Writable
  readonly #events: PassThroughEvents
  #isOpen = true
  #unwritten = 0
  #onIdle: (() => void) | undefined

  constructor(out: Writable, events: PassThroughEvents) {
    this.#out = out
    this.#events = events
    out.on('drain', events.onRoom)
    out.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#isOpen && error.code !== 'EPIPE') events.onFailure(error)
      this.close()
    })
  }

  /** @returns false where the input is to wait for `onRoom` */
  write(chunk: Uint8Array): boolean {
    if (!this.#isOpen) return true
    this.#unwritten += 1
    return this.#out.write(chunk, () => {
      this.#unwritten -= 1
      if (this.#unwritten === 0) this.#onIdle?.()
    })
  }

  /** Resolves when everything is written, or never will be. */
  finish(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve
      if (!this.#isOpen || this.#unwritten === 0) resolve()
    })
  }

  /** Writes nothing more, and waits for nothing. */
  close(): void {
    this.#isOpen = false
    this.#onIdle?.()
    this.#events.onRoom()
  }
}
