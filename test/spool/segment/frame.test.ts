import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HEADER_BYTES, parseUuid, readFrame, formatUuid, writeFrame } from '../../../src/spool/segment/frame.js'
import type { Frame, FrameInput } from '../../../src/spool/segment/frame.js'
import { readFrames } from '../disk-image.js'

const ID = fc.uuid()
const TEXT = fc.oneof(
  fc
    .array(fc.jsonValue(), { minLength: 1, maxLength: 5 })
    .map((entries) => entries.map((entry) => JSON.stringify(entry)).join()),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constant(''),
)
const FRAME = fc.record({
  kind: fc.constantFrom('entries' as const, 'seal' as const),
  id: ID,
  severity: fc.nat(4),
  count: fc.nat(0xffff),
  first: fc.nat(0xffff_ffff),
  text: TEXT,
})
type Given = typeof FRAME extends fc.Arbitrary<infer T> ? T : never

function inputOf({ id, text, ...rest }: Given): FrameInput {
  return { ...rest, id: parseUuid(id), text: Buffer.from(text) }
}

function bytesOf(frames: readonly Given[]): Buffer {
  const inputs = frames.map(inputOf)
  const bytes = Buffer.alloc(inputs.reduce((sum, { text }) => sum + HEADER_BYTES + text.length, 0))
  let at = 0
  for (const input of inputs) at = writeFrame(bytes, at, input)
  expect(at).toBe(bytes.length)
  return bytes
}

/** Reads frames like a reader of the whole file. */
function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length;) {
    const found = readFrame(bytes, at)
    if ('frame' in found) frames.push(found.frame)
    const passed: number = 'frame' in found ? found.frame.bytes : 'skip' in found ? found.skip : 1
    expect(passed).toBeGreaterThan(0)
    at += passed
  }
  return frames
}

function givenOf({ kind, batchId, severity, count, first, text }: Frame): Given {
  return { kind, id: batchId, severity, count, first, text: text.toString() }
}

/** A lone surrogate has no UTF-8 encoding. */
function asWritten(given: Given): Given {
  return { ...given, id: given.id.toLowerCase(), text: Buffer.from(given.text).toString() }
}

describe('frames', () => {
  test('any text and numbers are read as written', () => {
    fc.assert(
      fc.property(fc.array(FRAME, { maxLength: 6 }), (frames) => {
        expect(framesIn(bytesOf(frames)).map(givenOf)).toEqual(frames.map(asWritten))
      }),
    )
  })

  test('have the documented format on disk', () => {
    fc.assert(
      fc.property(FRAME, (frame) => {
        const bytes = Buffer.concat([Buffer.alloc(16), bytesOf([frame])])
        const { id, kind, count, first } = asWritten(frame)
        expect(readFrames(bytes)).toEqual([
          { at: 16, end: bytes.length, isSeal: kind === 'seal', batchId: id, count, first },
        ])
      }),
    )
  })

  test('are all found despite garbage between them', () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.constant(Uint8Array.of(0xff, 0x70, 0x69, 0x01)),
      fc.constant(new Uint8Array(50)),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(garbage, FRAME), { minLength: 1, maxLength: 5 }), garbage, (pairs, last) => {
        const bytes = Buffer.concat([...pairs.flatMap(([noise, frame]) => [noise, bytesOf([frame])]), last])
        expect(framesIn(bytes).map(givenOf)).toEqual(pairs.map(([, frame]) => asWritten(frame)))
      }),
      { numRuns: 500 },
    )
  })

  test('a flipped bit loses only its frame', () => {
    fc.assert(
      fc.property(fc.array(FRAME, { minLength: 2, maxLength: 5 }), fc.nat(), fc.nat(7), (frames, place, bit) => {
        const bytes = bytesOf(frames)
        const at = place % bytes.length
        let start = 0
        const hit = frames.findIndex(({ text }) => at < (start += HEADER_BYTES + Buffer.byteLength(text)))
        bytes[at] = (bytes[at] as number) ^ (1 << bit)
        expect(framesIn(bytes).map(givenOf)).toEqual(frames.toSpliced(hit, 1).map(asWritten))
      }),
      { numRuns: 500 },
    )
  })

  test('a torn end loses only the torn frame', () => {
    fc.assert(
      fc.property(fc.array(FRAME, { minLength: 1, maxLength: 4 }), fc.nat(), (frames, place) => {
        const whole = bytesOf(frames)
        const size = place % whole.length
        let end = 0
        const left = frames.filter(({ text }) => (end += HEADER_BYTES + Buffer.byteLength(text)) <= size)
        expect(framesIn(whole.subarray(0, size)).map(givenOf)).toEqual(left.map(asWritten))
      }),
      { numRuns: 500 },
    )
  })

  test('an invalid length counts as damage, and allocates no memory', () => {
    const bytes = bytesOf([
      { kind: 'entries', id: 'b5b6dd0c-7b4e-4d0c-8f43-6e1a3c1f1d2e', severity: 0, count: 1, first: 0, text: '{}' },
    ])
    bytes.writeUInt32LE(0xffff_ffff, 8)
    expect(readFrame(bytes, 0)).toHaveProperty('skip')
  })

  test('ids are case-insensitive', () => {
    fc.assert(
      fc.property(ID, (id) => {
        expect(formatUuid(parseUuid(id.toUpperCase()), 0)).toBe(id)
      }),
    )
  })
})
