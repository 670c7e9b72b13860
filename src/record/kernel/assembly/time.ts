/** Converts the time of a record. */
import { hasAnswer, takeText } from './ask'
import { Question } from '../../memory'
import { Range, beginText, copy, endText, putByte } from './output'
import { QUOTE, isPlainInteger } from './values'

/** The latest second's digits and text: records of one second follow each other. */
let second: u64 = 0
let secondRest: u16 = 0
const SECOND: usize = 0xf400

/** Milliseconds or seconds since the epoch, or text as `Date.toISOString` writes it, also with more digits. Returns false for other times. */
export function readTime(value: usize, end: usize, time: Range): bool {
  const bytes = end - value
  if ((bytes === 13 || bytes === 10) && <u32>load<u8>(value) - 0x31 < 9 && isPlainInteger(value, end)) {
    if (load<u64>(value) !== second || load<u16>(value, 8) !== secondRest) {
      if (!hasAnswer(Question.SECOND, value, value + 10)) return false
      takeText(time)
      memory.copy(SECOND, time.start, 24)
      second = load<u64>(value)
      secondRest = load<u16>(value, 8)
    }
    // Milliseconds.
    store<u16>(SECOND, bytes === 10 ? 0x3030 : load<u16>(value, 10), 20)
    store<u8>(SECOND, bytes === 10 ? 0x30 : load<u8>(value, 12), 22)
    time.set(SECOND, SECOND + 24)
    return true
  }
  if (load<u8>(value) !== QUOTE || !isIso(value + 1, end - 1)) return false
  const start = beginText()
  copy(value + 1, value + 24)
  putByte(0x5a)
  time.set(start, endText())
  return true
}

/** `20xx-MM-DDTHH:mm:ss.SSS…Z`. 29 February is left to the reference path. */
function isIso(from: usize, to: usize): bool {
  if (to - from < 24 || load<u16>(from) !== 0x3032 || load<u8>(to - 1) !== 0x5a) return false
  for (let i: usize = 0; i < to - from - 1; i++) {
    const mark: u8 = i === 4 || i === 7 ? 0x2d : i === 10 ? 0x54 : i === 13 || i === 16 ? 0x3a : i === 19 ? 0x2e : 0
    const c = load<u8>(from + i)
    if (mark !== 0 ? c !== mark : <u32>c - 0x30 > 9) return false
  }
  const month = twoDigits(from + 5)
  const day = twoDigits(from + 8)
  if (month < 1 || month > 12 || day < 1 || day > (month === 2 ? 28 : 30 + ((month + (month >> 3)) & 1))) return false
  return twoDigits(from + 11) < 24 && twoDigits(from + 14) < 60 && twoDigits(from + 17) < 60
}

function twoDigits(at: usize): u32 {
  return <u32>(load<u8>(at) - 0x30) * 10 + <u32>(load<u8>(at + 1) - 0x30)
}
