/** Reading plain, compressed and damaged files, and the position where a later run continues. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { computeDigest } from '../../../src/cli/send/checkpoint.js'
import type { CheckpointState } from '../../../src/cli/send/checkpoint.js'
import { findResumePosition, openInput, readText } from '../../../src/cli/send/file-reader.js'
import type { InputFile } from '../../../src/cli/send/file-reader.js'

function newPath(content: string | Buffer): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'file'), content)
  return join(dir, 'file')
}

async function opened(path: string): Promise<InputFile> {
  const file = await openInput(path, process.stdin)
  onTestFinished(() => file.close())
  return file
}

interface Read {
  readonly text: Buffer
  readonly longest: number
  readonly error: unknown
}

async function read(content: Buffer, from = 0): Promise<Read> {
  const parts: Buffer[] = []
  let error: unknown
  try {
    for await (const block of readText(await opened(newPath(content)), from)) parts.push(Buffer.from(block))
  } catch (thrown) {
    error = thrown
  }
  return { text: Buffer.concat(parts), longest: Math.max(0, ...parts.map(({ length }) => length)), error }
}

/** Numbers compress badly, which gives many blocks. */
function textOf(lines: number, seed = 1): Buffer {
  let state = seed
  const random = (): number => (state = (state * 48_271) % 2_147_483_647)
  return Buffer.from(Array.from({ length: lines }, (_, at) => `${at} ${random()} ${random()} ${random()}\n`).join(''))
}

const text = textOf(40_000)

test.each([0, 1, 300_000, text.length, text.length + 5])('plain and gzip from byte %i of the text', async (from) => {
  for (const content of [text, gzipSync(text)]) {
    const result = await read(content, from)
    expect(result.error).toBeUndefined()
    expect(result.text.equals(text.subarray(from))).toBe(true)
  }
})

test('text that compresses by a factor of 1,000 is read in blocks', async () => {
  const result = await read(gzipSync(Buffer.alloc(30_000_000, 'x')))
  expect(result.text).toHaveLength(30_000_000)
  expect(result.longest).toBeLessThanOrEqual(65_536)
})

test.each([1, 8, 9, 5_000, 300_000])(
  'a gzip file without its last %i bytes: its text is read, then the damage is reported',
  async (missing) => {
    const packed = gzipSync(text)
    const cut = packed.subarray(0, packed.length - missing)
    const result = await read(cut)
    expect(result.error).toMatchObject({
      code: 'FILE',
      message: expect.stringContaining('unexpected end of file') as string,
    })
    expect(text.subarray(0, result.text.length).equals(result.text)).toBe(true)
    expect(result.text.length / text.length).toBeGreaterThan(cut.length / packed.length - 0.15)
  },
)

test('a wrong checksum, damaged data or trailing garbage: earlier text is read, then the damage is reported', async () => {
  const packed = gzipSync(text)
  const damage = (at: number): Buffer =>
    Buffer.concat([packed.subarray(0, at), Buffer.from([~(packed[at] ?? 0)]), packed.subarray(at + 1)])
  for (const content of [
    damage(packed.length - 8),
    damage(packed.length >> 1),
    Buffer.concat([packed, Buffer.from('and something else')]),
  ]) {
    const result = await read(content)
    expect(result.error).toMatchObject({ code: 'FILE', message: expect.stringContaining('damaged') as string })
    expect(result.text.length).toBeGreaterThan(text.length * 0.4)
  }
})

describe('a later run', () => {
  /** The checkpoint after all of `content` is acknowledged. */
  function stateOf(content: string): CheckpointState {
    const tail = Buffer.from(content).subarray(-1024)
    const offset = Buffer.byteLength(content)
    const lineStart = content.endsWith('\n') ? offset : content.lastIndexOf('\n') + 1
    const counts = { accepted: 0, rejected: 0, filtered: 0 }
    return {
      version: 1,
      offset,
      lineStart,
      tailBytes: tail.length,
      tailHash: computeDigest(tail),
      counts,
      done: null,
      namespace: '',
    }
  }

  const long = `${'x'.repeat(3_000)}\n`

  test.each([
    ['unchanged', 'one\n', 'one\n', 4],
    ['grown', `${long}one\n`, `${long}one\ntwo\n`, 3_005],
    ['continued after a newline for its last line', 'one\ntwo', 'one\ntwo\nthree', 7],
    ['continued within its last line', 'one\ntwo', 'one\ntwo and a half\n', 4],
    ['rewritten', 'one\n', 'two\nthree\n', undefined],
    ['shorter', `${long}one\n`, long, undefined],
    ['emptied', 'one\n', '', undefined],
    ['rewritten after a long start', `${long}one\n`, `${long}two\nthree\n`, undefined],
    ['not yet sent', '', 'one\n', 0],
  ])('of a file that is %s', async (_name, before, now, offset) => {
    for (const content of [Buffer.from(now), gzipSync(now)]) {
      expect((await findResumePosition(await opened(newPath(content)), stateOf(before)))?.offset).toBe(offset)
    }
  })
})
