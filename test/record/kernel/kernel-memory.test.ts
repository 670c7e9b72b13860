/** The kernel reads and writes only its own places, whatever bytes a line has, and ends for all of them. */
import { inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Answers } from '../../../src/record/kernel/answers.js'
import { KERNEL_CODE } from '../../../src/record/kernel/kernel-code.js'
import { RunEnd, LINES, MAX_LINE_BYTES, OUTPUT, PAGE_BYTES, RESULT, Result, Stop } from '../../../src/record/memory.js'
import { KernelOptions } from '../../../src/record/kernel/kernel-options.js'
import { Redactor } from '../../../src/redaction/redactor.js'
import { modelRuns } from '../../model-runs.js'
import { corpus, createMappingOptions } from '../record-lines.js'

interface Exports {
  run(...args: [from: number, limit: number, ...limits: number[]]): number
  mapBreadcrumb(from: number, bytes: number, to: number): number
  hashOf(at: number, bytes: number): number
  paramSlot(at: number, bytes: number): number
}

interface WebAssemblyApi {
  Memory: new (limits: object) => { buffer: ArrayBuffer }
  Module: new (code: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: Exports }
}

const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly
const redactor = new Redactor({ patterns: [], keys: ['token', 'password', 'pin'] })
const options = createMappingOptions({ fingerprint: true, redactor })
const pages = (LINES + MAX_LINE_BYTES) / PAGE_BYTES + 1
const memory = new Memory({ initial: pages, maximum: pages })
const bytes = Buffer.from(memory.buffer)
const resultOf = (result: number): number => bytes.readInt32LE(RESULT + result)
const answers = new Answers(memory.buffer, options, () => '{}')
const kernel = new Instance(new Module(inflateRawSync(Buffer.from(KERNEL_CODE, 'base64'))), {
  env: { memory },
  ask: { ask: (...args: [number, number, number, number]) => answers.ask(...args) },
}).exports
new KernelOptions(memory.buffer, kernel).write(options)

/** Places between the last position of the index and the answers, which nothing writes to. */
const GAP = [0x17_0000, 0x20_0000] as const
const AROUND = 256
const PIECES = [
  ...[
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '\\"',
    '\\u00',
    ' ',
    '\r',
    '\0',
    '\t',
    '\x80',
    '\xc3',
    '\xff',
    '\xed\xa0\x80',
  ],
  ...[
    '0',
    '-',
    '1e',
    'true',
    'null',
    '"err":',
    '"req":{',
    '"res":{',
    '"headers":{',
    '"level":30',
    '"time":1763700000123',
  ],
  ...['"msg":"', '"stack":"Error: a\\n    at f (/a.js:1:2)', '://', '@', 'token=', '%3D', 'cookie: ', '"query":['],
  '"user":{"id":1',
].map((text) => Buffer.from(text, 'latin1'))
const lines = corpus.map(({ raw }) => Buffer.from(raw))

let seed = 1
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

function hostileLine(): Buffer {
  const parts: Buffer[] = []
  if (random(2) === 0) {
    const line = lines[random(lines.length)] as Buffer
    const at = random(line.length)
    parts.push(line.subarray(0, at), PIECES[random(PIECES.length)] as Buffer, line.subarray(at + random(3)))
  } else for (let count = random(40); count >= 0; count -= 1) parts.push(PIECES[random(PIECES.length)] as Buffer)
  return Buffer.from(Buffer.concat(parts).filter((byte) => byte !== 10))
}

/** The result for a line between other bytes, which must stay as they are. */
function mapBetween(line: Buffer, at: number, fill: string, isBreadcrumb: boolean): unknown {
  bytes.fill(fill, at - AROUND, at + line.length + AROUND, 'latin1')
  line.copy(bytes, at)
  bytes[at + line.length] = 10
  const before = Buffer.from(bytes.subarray(at - AROUND, at + line.length + AROUND))
  const end = isBreadcrumb
    ? kernel.mapBreadcrumb(at, line.length, OUTPUT)
    : kernel.run(at, at + line.length + 1, 1, 0, 0, Stop.EVERY_LINE, 0)
  expect(before.equals(bytes.subarray(at - AROUND, at + line.length + AROUND))).toBe(true)
  if (isBreadcrumb) return end === 0 ? 0 : bytes.toString('latin1', OUTPUT, end)
  if (end !== RunEnd.STOPPED) return 0
  const output = bytes.toString('latin1', OUTPUT, resultOf(Result.ENTRY_END))
  return [output, resultOf(Result.SEVERITY), resultOf(Result.FLAGS)]
}

test('hostile bytes, at every offset of a block', () => {
  let mapped = 0
  for (let run = 0; run < modelRuns(2_000, 1_000_000); run += 1) {
    const line = hostileLine()
    const at = LINES + AROUND + (run % 64)
    const isBreadcrumb = run % 3 === 0
    const result = mapBetween(line, at, '\0', isBreadcrumb)
    expect(mapBetween(line, at, run % 2 === 0 ? '"}' : '\\u{":,[0123456789abcdef', isBreadcrumb)).toEqual(result)
    if (typeof result !== 'number') mapped += 1
  }
  expect(bytes.subarray(...GAP).every((byte) => byte === 0)).toBe(true)
  expect(mapped).toBeGreaterThan(100)
})

test.each([
  ['braces', '{'],
  ['brackets', '{"a":['.padEnd(7, '[')],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['members', '{"a":1,'],
  ['hits', 'token= '],
])('a line of the largest size with %s', (_, piece) => {
  const line = Buffer.alloc(MAX_LINE_BYTES - 1, piece)
  line.copy(bytes, LINES)
  bytes[LINES + line.length] = 10
  for (const limit of [line.length, line.length + 1])
    expect(kernel.run(LINES, LINES + limit, 1, 0, 0, 0, 0)).toBe(RunEnd.DECLINED)
})
