/** Questions to `../answers.ts`: what the kernel does not decide itself. */
import { RESULT, Result } from '../../memory'
import { Range, answersAt, takeAnswer } from './output'

export namespace Question {
  /** Adds a level to the table. */
  export const LEVEL: i32 = 0
  /** A second since the epoch as ISO 8601. */
  export const SECOND: i32 = 1
  /** Fingerprint of type, message and source. */
  export const FINGERPRINT: i32 = 2
  /** Whether a value may contain an HTTP exchange. */
  export const EXCHANGE: i32 = 3
  /** Fields and other members of a user. */
  export const USER: i32 = 4
  export const TAGS: i32 = 5
  /** The trace in the value of a header. */
  export const TRACE: i32 = 6
  export const METHOD: i32 = 7
  /** The breadcrumb of a row, at its place in memory. */
  export const BREADCRUMB: i32 = 8
  /** Type, message and stack of an error, its other members, a note about removed ones, and its source. */
  export const ERROR: i32 = 9
}

/** @returns number of answers, whose bytes are in the results, or -1 for the reference path */
declare function ask(question: i32, from: usize, to: usize, answers: usize): i32

/** Asks about a range. Returns whether there is an answer; `takeText` then returns it. */
export function hasAnswer(question: i32, from: usize, to: usize): bool {
  read = 0
  return ask(question, from, to, answersAt) >= 0
}
let read: usize = 0

/** The next text of the answer. */
export function takeText(into: Range): void {
  const bytes = <usize>load<u32>(RESULT + Result.ASKED + (read << 2))
  read++
  if (bytes === 0) return into.clear()
  const from = takeAnswer(bytes)
  into.set(from, from + bytes)
}

/** Further ranges of a question. */
export function tell(index: usize, range: Range): void {
  range.storeAt(RESULT + Result.ASKED + (index << 3))
}
