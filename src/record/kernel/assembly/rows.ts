/** The rows of the latest lines, as in `../../../breadcrumbs/breadcrumb-rows.ts`: an error finds those of its scope in them. */
import {
  BUCKETS,
  FOUND_ROWS,
  HEADS,
  MAX_ROWS,
  OPTION,
  Option,
  RESULT,
  ROWS,
  ROW_BYTES,
  Result,
  Row,
  RowFlag,
  SCOPE_SECONDS,
  SIZE_SHIFT,
  Scope,
} from '../../memory'
import { Range } from './output'
import { QUOTE } from './values'

function rotate(value: u32, bits: u32): u32 {
  return (value << bits) | (value >> (32 - bits))
}

function finish(value: u32): u32 {
  const mixed = (value ^ (value >> 15)) * 0x2c1b3c6d
  return (mixed ^ (mixed >> 12)) * 0x297a2d39
}

/** Sets the scope of the line, see `hashScope` in `../../scope.ts`. @param id without quotes and escapes; empty for the process */
export function setScope(kind: u32, id: Range): void {
  let one = load<u32>(OPTION, Option.SEED) ^ (kind * 0x9e3779b1)
  let other = load<u32>(OPTION, Option.SEED + 4) ^ (kind * 0x85ebca77)
  if (kind !== Scope.PROCESS) {
    const isQuoted = load<u8>(id.start) === QUOTE
    const end = isQuoted ? id.end - 1 : id.end
    for (let at = isQuoted ? id.start + 1 : id.start; at < end; at += 4) {
      const left = end - at
      const word = left < 4 ? load<u32>(at) & (((<u32>1) << ((<u32>left) << 3)) - 1) : load<u32>(at)
      one = rotate((one ^ word) * 0x9e3779b1, 13)
      other = rotate((other + word) * 0x85ebca77, 17)
    }
  }
  store<u32>(RESULT, finish(one), Result.SCOPE)
  store<u32>(RESULT, finish(other), Result.SCOPE + 4)
}

function rowAt(number: u32): usize {
  return ROWS + <usize>(number & (MAX_ROWS - 1)) * ROW_BYTES
}

function headOf(one: u32): usize {
  return HEADS + ((<usize>(one & (BUCKETS - 1))) << 2)
}

/** Adds a row for a line of the scope that was set. @param start place of the line */
export function addRow(position: f64, start: usize, bytes: usize, flags: u32): void {
  const one = load<u32>(RESULT, Result.SCOPE)
  const other = load<u32>(RESULT, Result.SCOPE + 4)
  const number = load<u32>(OPTION, Option.NEXT_ROW)
  const row = rowAt(number)
  const head = headOf(one)
  store<f64>(row, position, Row.POSITION)
  store<u32>(row, one, Row.SCOPE)
  store<u32>(row, other, Row.SCOPE + 4)
  store<u32>(row, ((<u32>bytes) << SIZE_SHIFT) | flags, Row.SIZE_AND_FLAGS)
  store<u32>(row, load<u32>(head), Row.PREVIOUS)
  store<i32>(row, load<i32>(OPTION, Option.NOW), Row.SECONDS)
  store<u32>(row, <u32>start, Row.ADDRESS)
  store<u32>(head, number)
  store<u32>(OPTION, number + 1 === 0 ? 1 : number + 1, Option.NEXT_ROW)
}

/** Stores the rows that an error of the scope at the position takes, newest first. Returns their number. */
export function findRows(position: f64): i32 {
  const one = load<u32>(RESULT, Result.SCOPE)
  const other = load<u32>(RESULT, Result.SCOPE + 4)
  const least = max(position - load<f64>(OPTION, Option.BREADCRUMB_DISTANCE), load<f64>(OPTION, Option.OVERWRITTEN))
  const limit = load<i32>(OPTION, Option.BREADCRUMB_LIMIT)
  const next = load<u32>(OPTION, Option.NEXT_ROW)
  let seconds = load<i32>(OPTION, Option.NOW)
  let age: u32 = 0
  let count = 0
  let number = load<u32>(headOf(one))
  while (count < limit && number !== 0) {
    const row = rowAt(number)
    // Rows are overwritten in their turn.
    if (next - number <= age || next - number > <u32>MAX_ROWS || load<f64>(row) <= least) break
    age = next - number
    if (load<u32>(row, Row.SCOPE) === one && load<u32>(row, Row.SCOPE + 4) === other) {
      if (seconds - load<i32>(row, Row.SECONDS) > SCOPE_SECONDS) break
      seconds = load<i32>(row, Row.SECONDS)
      const flags = load<u32>(row, Row.SIZE_AND_FLAGS)
      if ((flags & RowFlag.NOT_A_BREADCRUMB) === 0) {
        store<u32>(FOUND_ROWS + ((<usize>count) << 2), <u32>row)
        count++
      }
      if ((flags & RowFlag.TOOK) !== 0) break
    }
    number = load<u32>(row, Row.PREVIOUS)
  }
  return count
}
