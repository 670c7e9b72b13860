/** Whether a line holds a secret in what is sent of it: such a line is for the reference path, which takes it out. */
import { nextHeader } from '../scrub/header-text.js'
import type { Scrubber } from '../scrub/scrubber.js'
import { hasUserinfo, nextEncodedAt } from '../scrub/userinfo.js'
import { NextPlace } from './memo.js'

export class SecretPlaces {
  readonly #headers = new NextPlace(nextHeader)
  readonly #params: NextPlace
  readonly #ats = NextPlace.of('@')
  readonly #encodedAts = new NextPlace(nextEncodedAt)

  constructor(scrubber: Scrubber | undefined) {
    this.#params = new NextPlace((text, from) => scrubber?.nextParam(text, from) ?? Infinity)
  }

  /** To be called for each new text. */
  forget(): void {
    this.#headers.forget()
    this.#params.forget()
    this.#ats.forget()
    this.#encodedAts.forget()
  }

  /** Lines come in rising order. @param isUnsent whether what stands at a position is left out */
  areIn(text: string, start: number, end: number, isUnsent: (position: number) => boolean): boolean {
    return has(this.#headers, text, start, end, isUnsent) || has(this.#params, text, start, end, isUnsent)
      || ((this.#ats.isWithin(text, start, end) || this.#encodedAts.isWithin(text, start, end)) && hasUserinfo(text.slice(start, end)))
  }
}

function has(places: NextPlace, text: string, start: number, end: number, isUnsent: (position: number) => boolean): boolean {
  for (let at = places.next(text, start); at < end; at = places.next(text, at + 1)) if (!isUnsent(at)) return true
  return false
}
