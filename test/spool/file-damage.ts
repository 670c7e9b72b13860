/** The effects of a crash, a power failure or a bad disk on files that no process has open. */
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { filesBelow, readFrames } from './disk-image.js'

export const DAMAGE_KINDS = [
  'none',
  'none',
  'none',
  'none',
  'tear',
  'tear',
  'garbage',
  'pages',
  'pages',
  'flip',
  'journal-lost',
  'journal-torn',
  'journal-flip',
  'segment-lost',
  'owner-lost',
  'owner-garbled',
] as const
export type Damage = (typeof DAMAGE_KINDS)[number]

const PAGE_BYTES = 4096
/** An unknown version: such folders are ignored, which another test checks. */
const VERSION_AT = 7

/**
 * @param pick two numbers from 0 to 2^20 that select file and position
 * @param syncedBytes the part of a file that survives a power failure
 */
export function damage(
  kind: Damage,
  root: string,
  pick: readonly [number, number],
  syncedBytes: (path: string) => number,
): void {
  if (kind === 'none') return
  const files = filesBelow(root)
  const segments = files.filter((path) => path.endsWith('.seg'))
  if (kind === 'pages') return segments.forEach((path) => losePages(path, pick, syncedBytes(path)))
  const suffix = kind.startsWith('journal') ? '.ack' : kind.startsWith('owner') ? 'owner' : '.seg'
  const candidates = files.filter((path) => path.endsWith(suffix))
  const path =
    kind === 'tear' || kind === 'garbage'
      ? segments.toSorted(byAge).at(-1)
      : candidates[pick[0] % Math.max(candidates.length, 1)]
  if (path === undefined) return
  const { size } = statSync(path)
  if (kind === 'tear') return truncate(path, Math.max(size - (pick[1] % 300), 0))
  if (kind === 'garbage') return appendGarbage(path, garbage(pick))
  if (kind === 'flip' || kind === 'journal-flip') return flip(path, pick[1] % Math.max(size, 1), size)
  if (kind === 'journal-torn') return truncate(path, pick[1] % (size + 1))
  if (kind === 'owner-garbled') return writeFileSync(path, garbage(pick))
  rmSync(path)
}

/** The instance's name starts with its time; two of the same millisecond are equivalent. */
function byAge(one: string, other: string): number {
  return statSync(one).mtimeMs - statSync(other).mtimeMs
}

/** Any pages that were not yet written are zeros. */
function losePages(path: string, [seed, more]: readonly [number, number], synced: number): void {
  const { size } = statSync(path)
  const fd = openSync(path, 'r+')
  for (let page = 0; page * PAGE_BYTES < size; page += 1) {
    const isLost = (((seed ^ more) >> (page % 20)) & 1) === 1
    const from = Math.max(page * PAGE_BYTES, synced)
    const to = Math.min((page + 1) * PAGE_BYTES, size)
    if (isLost && from < to) writeSync(fd, Buffer.alloc(to - from), 0, to - from, from)
  }
  closeSync(fd)
}

function flip(path: string, at: number, size: number): void {
  if (size === 0 || (at === VERSION_AT && path.endsWith('.seg'))) return
  const fd = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(fd, byte, 0, 1, at)
  // A second hit never repairs the damage.
  writeSync(fd, Buffer.from([((byte[0] as number) + 1) & 0xff]), 0, 1, at)
  closeSync(fd)
}

function truncate(path: string, size: number): void {
  const fd = openSync(path, 'r+')
  ftruncateSync(fd, size)
  closeSync(fd)
}

/** The random bytes after a torn frame may equal the missing ones, which is no damage. */
function appendGarbage(path: string, bytes: Buffer): void {
  const whole = readFileSync(path)
  append(path, bytes)
  if (readFrames(readFileSync(path)).length > readFrames(whole).length) truncate(path, whole.length)
}

function append(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'a')
  writeSync(fd, bytes)
  closeSync(fd)
}

/** Includes bytes that look like the start of an endless frame. */
function garbage([one, other]: readonly [number, number]): Buffer {
  const noise = Buffer.from(
    Array.from({ length: 1 + (one % 80) }, (_, at) => (one * 31 + other * 17 + at * at * 7) & 0xff),
  )
  return other % 2 === 0 ? noise : Buffer.concat([noise, Buffer.from([0xff, 0x70, 0x69, 0x01]), noise])
}
