import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AcknowledgementLog, readAcknowledgements } from '../../../src/spool/segment/acknowledgement-log.js'
import { parseUuid } from '../../../src/spool/segment/frame.js'
import { PositionSet } from '../../../src/spool/segment/position-set.js'
import { readRecords } from '../disk-image.js'
import { removeScratch, scratchFolder } from '../scratch.js'
import { isWindows } from '../../platform.js'

const RECORD_BYTES = 40
const IDS = [
  'b5b6dd0c-7b4e-4d0c-8f43-6e1a3c1f1d2e',
  '0e0a5f8e-3a1c-4c57-9d21-000000000000',
  'ffffffff-ffff-4fff-bfff-ffffffffffff',
]
const POSITIONS = fc.uniqueArray(fc.nat(99), { maxLength: 100 }).map((positions) => positions.toSorted((a, b) => a - b))
const RECORD = fc.record({
  kind: fc.constantFrom('settle' as const, 'part' as const),
  id: fc.constantFrom(...IDS),
  positions: POSITIONS,
})
type Given = { readonly kind: 'settle' | 'part'; readonly id: string; readonly positions: readonly number[] }

let folder: string
let path: string
let errors: unknown[]

beforeEach(() => {
  folder = scratchFolder()
  path = join(folder, '00000001.ack')
  errors = []
})

afterEach(() => removeScratch(folder))

function write(records: readonly Given[]): void {
  const journal = new AcknowledgementLog(path, (error) => errors.push(error))
  for (const { kind, id, positions } of records)
    journal[kind === 'part' ? 'recordPart' : 'recordSettled'](parseUuid(id), PositionSet.from(positions))
  journal.close()
}

/** Per batch: settled positions, and sub-batches in order. */
function wanted(records: readonly Given[]): Record<string, { settled: number[]; parts: (readonly number[])[] }> {
  const found: Record<string, { settled: number[]; parts: (readonly number[])[] }> = {}
  for (const { kind, id, positions } of records) {
    const batch = (found[id] ??= { settled: [], parts: [] })
    if (kind === 'part') batch.parts.push(positions)
    else batch.settled = [...new Set([...batch.settled, ...positions])].toSorted((a, b) => a - b)
  }
  return found
}

function read(): ReturnType<typeof wanted> {
  const entries = [...readAcknowledgements(path)].map(([id, { settled, parts }]) => [
    id,
    { settled: settled.toArray(), parts: parts.map((part) => part.toArray()) },
  ])
  return Object.fromEntries(entries) as ReturnType<typeof wanted>
}

describe('the acknowledgement log', () => {
  test('returns all written records', () => {
    fc.assert(
      fc.property(fc.array(RECORD, { maxLength: 8 }), (records) => {
        rmSync(path, { force: true })
        write(records)
        expect(read()).toEqual(wanted(records))
      }),
    )
  })

  test('has the documented format on disk', () => {
    write([
      { kind: 'settle', id: IDS[0] as string, positions: [0, 7, 8, 99] },
      { kind: 'part', id: IDS[1] as string, positions: [1] },
    ])
    expect(readRecords(readFileSync(path))).toEqual([
      { at: 0, kind: 'settled', batchId: IDS[0], positions: [0, 7, 8, 99] },
      { at: RECORD_BYTES, kind: 'part', batchId: IDS[1], positions: [1] },
    ])
  })

  test('a flipped bit loses only its record, and settles no other entry', () => {
    fc.assert(
      fc.property(fc.array(RECORD, { minLength: 1, maxLength: 6 }), fc.nat(), fc.nat(7), (records, place, bit) => {
        rmSync(path, { force: true })
        write(records)
        const bytes = readFileSync(path)
        const at = place % bytes.length
        bytes[at] = (bytes[at] as number) ^ (1 << bit)
        writeFileSync(path, bytes)
        expect(read()).toEqual(wanted(records.toSpliced(Math.floor(at / RECORD_BYTES), 1)))
      }),
      { numRuns: 300 },
    )
  })

  test('torn in the middle of a record: complete records count, and so do later ones', () => {
    fc.assert(
      fc.property(fc.array(RECORD, { minLength: 1, maxLength: 6 }), fc.nat(), RECORD, (records, place, next) => {
        rmSync(path, { force: true })
        write(records)
        const size = place % statSync(path).size
        truncateSync(path, size)
        const whole = records.slice(0, Math.floor(size / RECORD_BYTES))
        expect(read()).toEqual(wanted(whole))
        write([next])
        expect(read()).toEqual(wanted([...whole, next]))
        expect(statSync(path).size % RECORD_BYTES).toBe(0)
      }),
      { numRuns: 300 },
    )
  })

  test('ignores zeros and garbage', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (garbage) => {
        writeFileSync(path, Buffer.concat([Buffer.alloc(RECORD_BYTES * 2), garbage]))
        expect(read()).toEqual({})
      }),
    )
  })

  test('without the file, or with a link or folder in its place, nothing counts as settled', () => {
    expect(read()).toEqual({})
    write([{ kind: 'settle', id: IDS[0] as string, positions: [1] }])
    const link = join(folder, '00000002.ack')
    symlinkSync(path, link)
    expect(readAcknowledgements(link).size).toBe(0)
    mkdirSync(join(folder, '00000003.ack'))
    expect(readAcknowledgements(join(folder, '00000003.ack')).size).toBe(0)
  })

  test('reports a failed write, and repeats it with the next record', () => {
    mkdirSync(path)
    const journal = new AcknowledgementLog(path, (error) => errors.push(error))
    journal.recordSettled(parseUuid(IDS[0] as string), PositionSet.from([1]))
    journal.flush()
    expect(errors).toHaveLength(1)
    rmSync(path, { recursive: true })
    journal.recordSettled(parseUuid(IDS[0] as string), PositionSet.from([2]))
    journal.close()
    expect(errors).toHaveLength(1)
    expect(read()).toEqual({ [IDS[0] as string]: { settled: [1, 2], parts: [] } })
  })

  test('is readable only by its owner, and appended to', () => {
    write([{ kind: 'settle', id: IDS[0] as string, positions: [1] }])
    if (!isWindows) expect(statSync(path).mode & 0o777).toBe(0o600)
    appendFileSync(path, '')
    write([{ kind: 'settle', id: IDS[0] as string, positions: [2] }])
    expect(read()).toEqual({ [IDS[0] as string]: { settled: [1, 2], parts: [] } })
  })
})

test('sets of positions behave like sets', () => {
  const set = (given: readonly number[]): Set<number> => new Set(given)
  fc.assert(
    fc.property(POSITIONS, POSITIONS, fc.nat(100), (one, other, count) => {
      const [a, b] = [PositionSet.from(one), PositionSet.from(other)]
      expect(a.toArray()).toEqual(one)
      expect(a.size).toBe(one.length)
      expect(a.union(b).toArray()).toEqual([...set([...one, ...other])].toSorted((x, y) => x - y))
      expect(a.intersection(b).toArray()).toEqual(one.filter((at) => set(other).has(at)))
      expect(a.difference(b).toArray()).toEqual(one.filter((at) => !set(other).has(at)))
      expect(a.equals(b)).toBe(one.join() === other.join())
      expect(PositionSet.first(count).toArray()).toEqual(Array.from({ length: count }, (_, at) => at))
    }),
  )
})
