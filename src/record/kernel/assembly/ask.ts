/** Asks `../answers.ts`, see `Question`: what the kernel does not decide itself. */
import { RESULT, Result } from '../../memory'
import { Range, answersAt, takeAnswer } from './output'

/** @returns number of answers, whose bytes are in the results, or -1 for the reference path */
declare function ask(question: i32, from: usize, to: usize, answers: usize): i32

/** Asks about a range. Returns whether there is an answer; `takeText` then returns it. */
export function hasAnswer(question: i32, from: usize, to: usize): bool {
  read = 0
  return ask(question, from, to, answersAt) >= 0
}
let read: usize = 0

export function takeText(into: Range): void {
  const bytes = <usize>load<u32>(RESULT + Result.ASKED + (read << 2))
  read++
  if (bytes === 0) return into.clear()
  const from = takeAnswer(bytes)
  into.set(from, from + bytes)
}

export function tell(index: usize, range: Range): void {
  range.storeAt(RESULT + Result.ASKED + (index << 3))
}
