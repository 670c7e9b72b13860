/** Text from files, compressed or not, whole or damaged. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { isGzip } from '../../src/cli/send/file.js'
import { DamagedError, gzipBlocks, plainBlocks, streamBlocks } from '../../src/cli/send/source.js'
import type { Block } from '../../src/cli/send/source.js'

/** Numbers do not compress well, so that there are many pieces. */
function textOf(lines: number, seed = 1): Buffer {
  let state = seed
  const random = (): number => (state = (state * 48_271) % 2_147_483_647)
  return Buffer.from(Array.from({ length: lines }, (_, at) => `${at} ${random()} ${random()} ${random()}\n`).join(''))
}

interface Read {
  readonly text: Buffer
  readonly readTo: number
  readonly error: unknown
}

async function collect(blocks: AsyncIterable<Block>): Promise<Read> {
  const parts: Buffer[] = []
  let readTo = 0
  try {
    for await (const block of blocks) {
      parts.push(Buffer.from(block.bytes))
      readTo = block.readTo
    }
  } catch (error) {
    return { text: Buffer.concat(parts), readTo, error }
  }
  return { text: Buffer.concat(parts), readTo, error: undefined }
}

async function read(bytes: Buffer, blocks: typeof plainBlocks, from = 0): Promise<Read> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'file')
  writeFileSync(path, bytes)
  const handle = await open(path)
  try {
    return await collect(blocks(handle, from))
  } finally {
    await handle.close()
  }
}

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const text = textOf(40_000)

test.each([0, 1, 300_000, text.length, text.length + 5])('plain text from byte %i', async (from) => {
  const result = await read(text, plainBlocks, from)
  expect(result.text.equals(text.subarray(from))).toBe(true)
  expect(result.error).toBeUndefined()
})

test.each([0, 1, 300_000, text.length - 1, text.length])('gzip from byte %i of its text', async (from) => {
  const packed = gzipSync(text)
  const result = await read(packed, gzipBlocks, from)
  expect(result.text.equals(text.subarray(from))).toBe(true)
  expect(result.error).toBeUndefined()
  if (from < text.length) expect(result.readTo).toBe(packed.length)
})

test('members follow each other, as a rotation or bgzip writes them, also empty ones, and zeros behind them', async () => {
  const members = Array.from({ length: 300 }, (_, at) => textOf(at % 7 === 0 ? 0 : 20, at + 1))
  const packed = Buffer.concat([...members.map((member) => gzipSync(member)), Buffer.alloc(70_000)])
  const result = await read(packed, gzipBlocks)
  expect(result.error).toBeUndefined()
  expect(result.text.equals(Buffer.concat(members))).toBe(true)
})

test('text that compresses a thousandfold comes in blocks, not at once', async () => {
  const handleText = Buffer.alloc(30_000_000, 'x')
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'file'), gzipSync(handleText))
  const handle = await open(join(dir, 'file'))
  let bytes = 0
  let longest = 0
  for await (const block of gzipBlocks(handle, 0)) {
    bytes += block.bytes.length
    longest = Math.max(longest, block.bytes.length)
  }
  await handle.close()
  expect(bytes).toBe(handleText.length)
  expect(longest).toBeLessThanOrEqual(65_536)
})

test.each([1, 8, 9, 5_000, 300_000])(
  '%i bytes short: what is there is given, then the damage told',
  async (missing) => {
    const packed = gzipSync(text)
    const cut = packed.subarray(0, packed.length - missing)
    const { text: got, error } = await read(cut, gzipBlocks)
    expect(error).toBeInstanceOf(DamagedError)
    expect((error as DamagedError).message).toContain('unexpected end of file')
    expect((error as DamagedError).readTo).toBe(cut.length)
    expect(text.subarray(0, got.length).equals(got)).toBe(true)
    // At most a block of deflate is not yet text.
    expect(got.length / text.length).toBeGreaterThan(cut.length / packed.length - 0.15)
    if (missing <= 8) expect(got.length).toBe(text.length)
  },
)

test('a wrong checksum: all the text is given, then the damage told', async () => {
  const packed = gzipSync(textOf(10))
  packed.writeUInt8(packed.readUInt8(packed.length - 8) ^ 1, packed.length - 8)
  const { text: got, error } = await read(packed, gzipBlocks)
  expect(error).toMatchObject({ name: 'DamagedError', message: 'incorrect data check' })
  expect(got.equals(textOf(10))).toBe(true)
})

test.each([10, 40_000])(
  'something else behind %i lines: they are given, then the damage told, with its place',
  async (lines) => {
    const packed = gzipSync(textOf(lines))
    const { text: got, error } = await read(Buffer.concat([packed, Buffer.from('and something else')]), gzipBlocks)
    expect(error).toMatchObject({ name: 'DamagedError', message: 'incorrect header check' })
    expect(got.equals(textOf(lines))).toBe(true)
    expect(Math.abs((error as DamagedError).readTo - packed.length)).toBeLessThanOrEqual(2)
  },
)

test('damage behind the place where it goes on', async () => {
  const packed = gzipSync(text).subarray(0, -20)
  const { text: got, error } = await read(packed, gzipBlocks, 500_000)
  expect(error).toBeInstanceOf(DamagedError)
  expect(text.subarray(500_000, 500_000 + got.length).equals(got)).toBe(true)
})

test.each([1, 13, 50_000])('a stream in pieces of %i bytes, plain or gzip', async (size) => {
  const short = textOf(200)
  const whole = size < 100 ? short : text
  for (const bytes of [whole, gzipSync(whole)]) {
    const result = await collect(streamBlocks(pieces(bytes, size), isGzip))
    expect(result.error).toBeUndefined()
    if (bytes === whole) expect(result.readTo).toBe(bytes.length)
    expect(result.text.equals(whole)).toBe(true)
  }
  expect((await collect(streamBlocks(pieces(gzipSync(whole).subarray(0, -1), size), isGzip))).error).toBeInstanceOf(
    DamagedError,
  )
})

test.each(['', 'x', '\u001f'])('a stream of %j alone', async (content) => {
  expect((await collect(streamBlocks(pieces(Buffer.from(content), 1), isGzip))).text.toString()).toBe(content)
})

test('what is written while it is read is read, too', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'file')
  writeFileSync(path, 'one\n')
  const handle = await open(path)
  const blocks = plainBlocks(handle, 0)
  expect((await blocks.next()).value).toMatchObject({ bytes: Buffer.from('one\n') })
  appendFileSync(path, 'two\n')
  expect((await blocks.next()).value).toMatchObject({ bytes: Buffer.from('two\n'), readTo: 8 })
  await blocks.return(undefined)
  await handle.close()
})
