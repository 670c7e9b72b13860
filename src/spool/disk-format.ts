/** Names of files and folders, and the format version. A program does not touch files of an unknown version. */

export const FORMAT_VERSION = 1

const SIGNATURE = Buffer.from('pinospl', 'latin1')
export const SEGMENT_HEADER_BYTES = 16

export function createSegmentHeader(createdAtMs: number): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
  SIGNATURE.copy(header)
  header[7] = FORMAT_VERSION
  header.writeBigUInt64LE(BigInt(Math.trunc(createdAtMs)), 8)
  return header
}

/** Undefined if the header is damaged. The frames are still read, because each has its own signature. */
export function readVersion(header: Buffer): number | undefined {
  return SIGNATURE.equals(header.subarray(0, 7)) ? header[7] : undefined
}

export const LIVE = '.live'
export const LEFT = '.left'
export const DEAD_LETTERS = 'dead'
export const OWNER = 'owner'
/** In a destination's folder: where its entries are sent. */
export const DESTINATION = 'destination'
/** In a destination's folder. Marker: the warning about entries for this destination has been printed. */
export const REPORTED = 'reported'
/** In a destination's folder. Marker: the service rejected the key. The hash of the URL follows. */
export const KEY_REJECTED = 'rejected-'
/** In a destination's folder. Marker: a running process replaced the key. The name of the new key's destination follows. */
export const KEY_REPLACED = 'replaced-'

const SEGMENT_NAME = /^\d{8}\.seg$/
const ACKNOWLEDGEMENT_LOG_NAME = /^\d{8}\.ack$/
/** Name of a destination's folder. */
export const DESTINATION_NAME = /^[0-9a-f]{16}$/
/** Starts with the start time in base 36, so names sort by age. */
export const INSTANCE_NAME = /^([0-9a-z]{8,12}-[0-9a-f]{12})(\.live|\.left)?$/

export function isSegment(name: string): boolean {
  return SEGMENT_NAME.test(name)
}

export function isAcknowledgementLog(name: string): boolean {
  return ACKNOWLEDGEMENT_LOG_NAME.test(name)
}

export function toSegmentName(number: number): string {
  return `${String(number).padStart(8, '0')}.seg`
}

export function toAcknowledgementLogPath(segment: string): string {
  return segment.replace(/\.seg$/, '.ack')
}
