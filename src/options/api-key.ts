/** The API key. Secrets are rotated in place, so a key that came from a file can be read again. */
import { Signal } from '../shared/signal.js'
import { key as keyKind } from './kinds.js'
import { Secret } from './secret.js'

export class ApiKey extends Secret {
  /** Emitted with the new key after the file had another one. */
  readonly changed = new Signal<[key: string]>()
  readonly #readFile: (() => string) | undefined
  #current: string

  /** @param readFile reads the file that contained the key; undefined if the key was not in a file */
  constructor(first: string, readFile?: () => string) {
    super(first)
    this.#current = first
    this.#readFile = readFile
  }

  override reveal(): string {
    return this.#current
  }

  /**
   * Called when the service has rejected the key. Reads the file again; without a valid key in it, the current key
   * stays. Synchronous, as the file has one line. Never throws.
   * @returns whether the file had another key, which is now the current one
   */
  reread(): boolean {
    const found = this.#read()
    if (found === undefined || found === this.#current) return false
    this.#current = found
    this.changed.emit(found)
    return true
  }

  #read(): string | undefined {
    if (this.#readFile === undefined) return undefined
    try {
      const found = keyKind.read(keyKind.parse(this.#readFile()))
      return found === undefined || isUrl(found) ? undefined : found
    } catch {
      return undefined // the file is being replaced, or this user cannot read it
    }
  }
}

/** Whether a key is a URL by mistake. */
export function isUrl(key: string): boolean {
  return /^https?:\/\//i.test(key)
}
