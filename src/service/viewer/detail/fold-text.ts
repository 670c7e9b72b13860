/** Folds long texts (pure). */
import { cutAt } from './tree.js'

export interface FoldedText {
  readonly text: string
  readonly isCut: boolean
}

/** Returns at most `maxChars` and `maxLines`. A slightly longer text stays whole, because folding would hide only a line. */
export function foldText(text: string, maxChars: number, maxLines: number): FoldedText {
  let at = 0
  for (let lines = 0; at !== -1 && lines < maxLines; lines += 1) at = next(text, at, maxChars)
  const byLines = at === -1 || isNearlyAll(text, at) ? text.length : at - 1
  const end = text.length <= maxChars * 1.2 ? byLines : Math.min(byLines, maxChars)
  return end >= text.length ? { text, isCut: false } : { text: cutAt(text, end), isCut: true }
}

function next(text: string, from: number, maxChars: number): number {
  const at = text.indexOf('\n', from)
  return at === -1 || at > maxChars ? -1 : at + 1
}

const SPARE_LINES = 3

function isNearlyAll(text: string, from: number): boolean {
  let at = from
  for (let lines = 0; lines < SPARE_LINES; lines += 1) {
    at = text.indexOf('\n', at) + 1
    if (at === 0) return true
  }
  return false
}
