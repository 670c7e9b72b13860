/** Which API keys are good. Only their digests are held. */
import { createHash } from 'node:crypto'

export class ApiKeys {
  readonly #digests: ReadonlySet<string> | undefined

  /** Undefined: every key that is not empty. */
  constructor(keys: readonly string[] | undefined) {
    this.#digests = keys && new Set(keys.map(digest))
  }

  accepts(key: string | string[] | undefined): boolean {
    if (typeof key !== 'string' || key === '') return false
    return this.#digests === undefined || this.#digests.has(digest(key))
  }
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64')
}
