/** Converts the time of a record. */
import { Question, hasAnswer, takeText } from './ask'
import { Range } from './output'
import { QUOTE, isPlainInteger } from './values'

let second: u64 = 0
let secondRest: u16 = 0
const SECOND: usize = 0xf400

/** Milliseconds since the epoch, or any other time, as ISO 8601. */
export function readTime(value: usize, end: usize, time: Range): bool {
  if (end - value === 13 && load<u8>(value) !== QUOTE && load<u8>(value) !== 0x2d && isPlainInteger(value, end)) {
    if (load<u64>(value) !== second || load<u16>(value, 8) !== secondRest) {
      second = load<u64>(value)
      secondRest = load<u16>(value, 8)
      writeSecond(value)
    }
    // Milliseconds.
    store<u16>(SECOND, load<u16>(value, 10), 20)
    store<u8>(SECOND, load<u8>(value, 12), 22)
    time.set(SECOND, SECOND + 24)
    return true
  }
  if (end - value > 64 || !hasAnswer(Question.TIME, value, end)) return false
  takeText(time)
  return true
}

function writeDigits(at: usize, value: u32, digits: i32): void {
  let left = value
  for (let i = digits - 1; i >= 0; i--) {
    store<u8>(at + <usize>i, <u8>(0x30 + (left % 10)))
    left /= 10
  }
}

/** `2026-11-25T12:00:00.   Z` for the first ten digits. Years from 2001 to 2286. */
function writeSecond(value: usize): void {
  let seconds: u64 = 0
  for (let i: usize = 0; i < 10; i++) seconds = seconds * 10 + <u64>(load<u8>(value + i) - 0x30)
  const days = <u32>(seconds / 86_400)
  const rest = <u32>(seconds % 86_400)
  // Days since 1 March of year 0, see "chrono-compatible low-level date algorithms".
  const z = days + 719_468
  const era = z / 146_097
  const ofEra = z % 146_097
  const year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
  const ofYear = ofEra - (365 * year + year / 4 - year / 100)
  const month = (5 * ofYear + 2) / 153
  writeDigits(SECOND, year + era * 400 + (month < 10 ? 0 : 1), 4)
  writeDigits(SECOND + 5, month < 10 ? month + 3 : month - 9, 2)
  writeDigits(SECOND + 8, ofYear - (153 * month + 2) / 5 + 1, 2)
  writeDigits(SECOND + 11, rest / 3_600, 2)
  writeDigits(SECOND + 14, (rest / 60) % 60, 2)
  writeDigits(SECOND + 17, rest % 60, 2)
  store<u8>(SECOND, 0x2d, 4)
  store<u8>(SECOND, 0x2d, 7)
  store<u8>(SECOND, 0x54, 10)
  store<u8>(SECOND, 0x3a, 13)
  store<u8>(SECOND, 0x3a, 16)
  store<u8>(SECOND, 0x2e, 19)
  store<u8>(SECOND, 0x5a, 23)
}
