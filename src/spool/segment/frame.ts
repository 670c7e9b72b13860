/** Encoding of frames. Pure. `README.md` contains a diagram. */
import zlib from 'node:zlib'
import { LARGEST_BATCH_BYTES } from '../../options/size-limits.js'
import { MAX_LOGS_PER_REQUEST } from '../../protocol/limits.js'
import { FORMAT_VERSION } from '../disk-format.js'

/** Not imported by name: see `shared/node-version.ts`. */
const { crc32 } = zlib

export const HEADER_BYTES = 36
/** `0xff` does not occur in UTF-8, so no entry contains the magic. */
const FRAME_MAGIC = Buffer.from([0xff, 0x70, 0x69, FORMAT_VERSION])
/** Maximum text of a frame for writers and readers. A batch may be written as one frame. */
export const MAX_TEXT_BYTES = LARGEST_BATCH_BYTES
/** Maximum size of a batch: at most one frame per entry, and the seal. */
export const MAX_BATCH_BYTES = LARGEST_BATCH_BYTES + (MAX_LOGS_PER_REQUEST + 1) * HEADER_BYTES

const ENTRIES = 1
const SEAL = 2

const CRC_AT = 4
const LENGTH_AT = 8
const KIND_AT = 12
const SEVERITY_AT = 13
const COUNT_AT = 14
const FIRST_AT = 16
const ID_AT = 20

export interface Frame {
  readonly kind: 'entries' | 'seal'
  readonly batchId: string
  /** Index in `LEVELS` of the highest level of the entries. */
  readonly severity: number
  /** Entries in the frame, or for a seal in the batch. */
  readonly count: number
  /** Position of the first entry in the batch. */
  readonly first: number
  /** Entries' JSON, comma-separated. */
  readonly text: Buffer
  readonly bytes: number
}

/**
 * Result at an offset: a frame, the number of bytes needed from there, or the number of damaged bytes before the next
 * possible frame.
 */
export type Found = { readonly frame: Frame } | { readonly needs: number } | { readonly skip: number }

export interface FrameInput {
  readonly kind: Frame['kind']
  /** 16 bytes. */
  readonly id: Uint8Array
  readonly severity: number
  readonly count: number
  readonly first: number
  readonly text: Uint8Array
}

/** Writes a frame at `at`, which must have space for `HEADER_BYTES` and the text. @returns the end of the frame */
export function writeFrame(into: Buffer, at: number, { kind, id, severity, count, first, text }: FrameInput): number {
  const end = at + HEADER_BYTES + text.length
  into.set(FRAME_MAGIC, at)
  into.writeUInt32LE(text.length, at + LENGTH_AT)
  into[at + KIND_AT] = kind === 'seal' ? SEAL : ENTRIES
  into[at + SEVERITY_AT] = severity
  into.writeUInt16LE(count, at + COUNT_AT)
  into.writeUInt32LE(first, at + FIRST_AT)
  into.set(id, at + ID_AT)
  into.set(text, at + HEADER_BYTES)
  into.writeUInt32LE(crc32(into.subarray(at + LENGTH_AT, end)), at + CRC_AT)
  return end
}

/** @param bytes any content */
export function readFrame(bytes: Buffer, at: number): Found {
  const left = bytes.length - at
  if (left < FRAME_MAGIC.length) return { needs: HEADER_BYTES }
  if (bytes.compare(FRAME_MAGIC, 0, FRAME_MAGIC.length, at, at + FRAME_MAGIC.length) !== 0)
    return { skip: toNextMagic(bytes, at) }
  if (left < HEADER_BYTES) return { needs: HEADER_BYTES }
  const length = bytes.readUInt32LE(at + LENGTH_AT)
  const kind = bytes[at + KIND_AT]
  if (length > MAX_TEXT_BYTES || (kind !== ENTRIES && kind !== SEAL)) return { skip: toNextMagic(bytes, at + 1) + 1 }
  const size = HEADER_BYTES + length
  if (left < size) return { needs: size }
  const end = at + size
  if (crc32(bytes.subarray(at + LENGTH_AT, end)) !== bytes.readUInt32LE(at + CRC_AT))
    return { skip: toNextMagic(bytes, at + 1) + 1 }
  return {
    frame: {
      kind: kind === SEAL ? 'seal' : 'entries',
      batchId: formatUuid(bytes, at + ID_AT),
      severity: bytes[at + SEVERITY_AT] as number,
      count: bytes.readUInt16LE(at + COUNT_AT),
      first: bytes.readUInt32LE(at + FIRST_AT),
      text: bytes.subarray(at + HEADER_BYTES, end),
      bytes: size,
    },
  }
}

/** Distance to the next possible frame. The end of the bytes may cut its magic. */
function toNextMagic(bytes: Buffer, at: number): number {
  const next = bytes.indexOf(FRAME_MAGIC, at)
  return (next === -1 ? Math.max(bytes.length - FRAME_MAGIC.length + 1, at) : next) - at
}

/** The 16 bytes of a UUID's text. */
export function parseUuid(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

export function formatUuid(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
