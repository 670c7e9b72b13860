/** Opens log files and reads their text in blocks, inflated if they are gzip. */
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import { computeDigest } from './checkpoint.js'
import type { CheckpointState, Position } from './checkpoint.js'

/** A file, or stdin. */
export interface InputFile {
  /** As the user gave it. */
  readonly name: string
  /** Device and inode, which a rename does not change. Undefined for stdin, as are size and time. */
  readonly id?: string
  /** Bytes on disk. */
  readonly size?: number
  readonly mtimeMs?: number
  readonly isGzip: boolean
  /** Bytes from an offset on, not inflated. A block is valid until the next one is requested. */
  readBlocks(offset: number, blockBytes: number): AsyncIterable<Buffer>
  close(): Promise<void>
}

const BLOCK_BYTES = 64 * 1024
/** Small, since the text of a damaged block is lost. Inflates to at most 4 MiB. */
const GZIP_BLOCK_BYTES = 4 * 1024
const NEWLINE = 0x0a
const GZIP = '1f8b'

/** @param name `-` for stdin @throws CommandError */
export async function openInput(name: string, stdin: AsyncIterable<Buffer>): Promise<InputFile> {
  if (name === '-') return { name, isGzip: false, readBlocks: () => stdin, close: () => Promise.resolve() }
  let handle: FileHandle | undefined
  try {
    // Without O_NONBLOCK, opening a FIFO waits for its other end.
    const opened = (handle = await open(await realpath(name), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)))
    const stats = await handle.stat({ bigint: true })
    if (stats.isDirectory()) throw new Error(`is a folder; pass its files, such as ${name.replace(/\/+$/, '')}/*.log`)
    if (!stats.isFile()) throw new Error('is not a regular file; send a pipe through stdin, with - as FILE')
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return {
      name,
      id: `${stats.dev}:${stats.ino}`,
      size: Number(stats.size),
      mtimeMs: Number(stats.mtimeMs),
      isGzip: buffer.toString('hex', 0, bytesRead) === GZIP,
      readBlocks: (offset, blockBytes) => readBlocks(opened, offset, blockBytes),
      close: () => opened.close(),
    }
  } catch (error) {
    await handle?.close()
    const { code, message } = error as NodeJS.ErrnoException
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EACCES: 'permission denied',
    }
    throw createError(code === undefined ? `${name} ${message}` : `${name} cannot be read: ${reasons[code] ?? message}`)
  }
}

/** Reads the text from an offset. @param onRead called with the length of each block before it is inflated */
export async function* readText(
  file: InputFile,
  offset: number,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Buffer> {
  const measured = async function* (from: number, blockBytes: number): AsyncGenerator<Buffer> {
    for await (const block of file.readBlocks(from, blockBytes)) {
      onRead(block.length)
      yield block
    }
  }
  if (!file.isGzip) return yield* measured(offset, BLOCK_BYTES)
  let skip = offset
  for await (const block of inflate(measured(0, GZIP_BLOCK_BYTES), file.name)) {
    if (skip < block.length) yield block.subarray(skip)
    skip = Math.max(0, skip - block.length)
  }
}

/**
 * The position to continue from: the checkpoint, or the start of its last line, if that line had no newline and has grown since.
 * @returns undefined if the text before the checkpoint differs from the text that was sent
 */
export async function findResumePosition(
  file: InputFile,
  { offset, lineStart, tailBytes, tailHash }: CheckpointState,
): Promise<Position | undefined> {
  let found = Buffer.alloc(0)
  for await (const block of offset === 0 ? [] : readText(file, offset - tailBytes)) {
    found = Buffer.concat([found, block.subarray(0, tailBytes + 1 - found.length)])
    if (found.length > tailBytes) break
  }
  const tail = found.subarray(0, tailBytes)
  if (offset > 0 && computeDigest(tail) !== tailHash) return undefined
  const isLonger = lineStart < offset && found.length > tailBytes && found[tailBytes] !== NEWLINE
  if (!isLonger) return { offset, lineStart, tail }
  return { offset: lineStart, lineStart, tail: tail.subarray(0, Math.max(0, tailBytes - (offset - lineStart))) }
}

/** Other formats by their first bytes. Read as text, such files would become thousands of meaningless entries. */
const OTHER_FORMATS: readonly (readonly [name: string, start: string, command: string])[] = [
  ['gzip', GZIP, 'gzip -dc'],
  ['zstd', '28b52ffd', 'zstd -dc'],
  ['xz', 'fd377a585a00', 'xz -dc'],
  ['bzip2', '425a68', 'bzip2 -dc'],
  ['zip', '504b0304', 'unzip -p'],
  ['UTF-16', 'fffe', 'iconv -f UTF-16 -t UTF-8'],
  ['UTF-16', 'feff', 'iconv -f UTF-16 -t UTF-8'],
]

/** A page of the local service's API, or an array of its entries. */
const PAGE = /^\s*(?:\{\s*"items":\s*)?\[\s*\{\s*"id":\s*"[^"]*",\s*"seq":/

/** @param block the beginning of the text @throws CommandError */
export function refuseOtherFormats(block: Buffer, name: string): void {
  if (PAGE.test(block.toString('latin1', 0, 1_024)))
    throw createError(`${name} has several entries in one JSON text; only one JSON text per line can be read`)
  const [format, , command] = OTHER_FORMATS.find(([, start]) => block.toString('hex', 0, 6).startsWith(start)) ?? []
  if (format === undefined) return
  const source = name === '-' ? 'FILE' : name
  throw createError(
    `${name} is ${format}; only UTF-8 text and gzip can be read: ${command} ${source} | pino-ingest send -`,
  )
}

async function* readBlocks(handle: FileHandle, from: number, blockBytes: number): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafeSlow(blockBytes)
  for (let at = from; ;) {
    const { bytesRead } = await handle.read(block, 0, blockBytes, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield block.subarray(0, bytesRead)
  }
}

/** Does not pipe streams: on an error a pipe discards text that was already inflated. @throws CommandError */
async function* inflate(blocks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: BLOCK_BYTES })
  const inflated: Buffer[] = []
  let failure: Error | undefined
  let bytes = 0
  // The callback of a write is not called after an error or at the end of the last member.
  let resume = (): void => {}
  gunzip.on('data', (block: Buffer) => inflated.push(block))
  gunzip.on('error', (error) => (failure = error))
  gunzip.on('end', () => resume()).on('close', () => resume())
  const run = (start: (done: () => void) => void): Promise<void> =>
    new Promise((resolve) => start((resume = () => resolve())))
  try {
    for await (const block of blocks) {
      await run((done) => gunzip.write(block, (error) => error ?? done()))
      yield* inflated.splice(0)
      if (gunzip.destroyed || gunzip.readableEnded) break
      bytes += block.length
    }
    if (!gunzip.destroyed && !gunzip.readableEnded) await run(() => gunzip.end())
    yield* inflated.splice(0)
    const where = `${name} is damaged near byte ${bytes}`
    if (failure !== undefined) throw createError(`${where} (${failure.message}); only whole lines before that are sent`)
  } finally {
    gunzip.close()
  }
}

function createError(message: string): CommandError {
  return new CommandError('FILE', message, EXIT_FAILED)
}
