/** The content of a root, parsed according to the format's description without the tested code. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const { crc32 } = process.getBuiltinModule('node:zlib')
const SEGMENT_HEADER_BYTES = 16
const FRAME_HEADER_BYTES = 36
const RECORD_BYTES = 40
const MAGIC = Buffer.from([0xff, 0x70, 0x69, 0x01])

export interface FrameOnDisk {
  readonly at: number
  readonly end: number
  readonly isSeal: boolean
  readonly batchId: string
  /** Entries in the frame; for a seal, in the batch. */
  readonly count: number
  readonly first: number
}

export interface RecordOnDisk {
  readonly at: number
  readonly kind: 'settled' | 'part'
  readonly batchId: string
  readonly positions: readonly number[]
}

export interface SegmentOnDisk {
  /** The same wherever the folder is moved. */
  readonly key: string
  readonly path: string
  readonly bytes: Buffer
  readonly frames: readonly FrameOnDisk[]
  readonly records: readonly RecordOnDisk[]
  readonly journalBytes: Buffer
}

export function readFrames(bytes: Buffer): FrameOnDisk[] {
  const frames: FrameOnDisk[] = []
  for (let at = bytes.indexOf(MAGIC, SEGMENT_HEADER_BYTES); at !== -1 && at + FRAME_HEADER_BYTES <= bytes.length;) {
    const end = at + FRAME_HEADER_BYTES + bytes.readUInt32LE(at + 8)
    const isFrame = end <= bytes.length && crc32(bytes.subarray(at + 8, end)) === bytes.readUInt32LE(at + 4)
    if (isFrame) {
      frames.push({
        at,
        end,
        isSeal: bytes[at + 12] === 2,
        batchId: uuidAt(bytes, at + 20),
        count: bytes.readUInt16LE(at + 14),
        first: bytes.readUInt32LE(at + 16),
      })
    }
    at = bytes.indexOf(MAGIC, isFrame ? end : at + 1)
  }
  return frames
}

export function readRecords(bytes: Buffer): RecordOnDisk[] {
  const records: RecordOnDisk[] = []
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const kind = bytes.readUInt32LE(at)
    if (crc32(bytes.subarray(at + 8, at + RECORD_BYTES), kind) !== bytes.readUInt32LE(at + 4)) continue
    const positions: number[] = []
    for (let bit = 0; bit < 128; bit += 1)
      if ((((bytes[at + 24 + (bit >> 3)] as number) >> (bit & 7)) & 1) === 1) positions.push(bit)
    records.push({ at, kind: kind === 1 ? 'settled' : 'part', batchId: uuidAt(bytes, at + 8), positions })
  }
  return records
}

function uuidAt(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export function segmentsBelow(folder: string): SegmentOnDisk[] {
  return filesBelow(folder)
    .filter((path) => path.endsWith('.seg'))
    .map(readSegment)
}

function readSegment(path: string): SegmentOnDisk {
  const bytes = readFileSync(path)
  const journalBytes = readIfThere(path.replace(/\.seg$/, '.ack'))
  return { key: keyOf(path), path, bytes, frames: readFrames(bytes), records: readRecords(journalBytes), journalBytes }
}

/** Instance and segment number. */
export function keyOf(path: string): string {
  return `${basename(join(path, '..')).replace(/\.(live|left)$/, '')}/${basename(path)}`
}

/** Names of the folders of instances. */
export function instanceFolders(destination: string): string[] {
  return readdirSync(destination)
    .filter((name) => /\.(live|left)$/.test(name))
    .toSorted()
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}` // as tests compare it, also on Windows
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
}

/** There is no file if nothing was settled. */
function readIfThere(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
}
