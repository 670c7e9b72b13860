/** A file to be sent: opened, looked at, and told from others by what it is rather than by its name. */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { CommandError, EXIT_FAILED } from '../shared/command.js'

export interface Identity {
  /** As the file was called when it was looked at. */
  readonly path: string
  /** A file keeps them when it is renamed, as by a rotation. */
  readonly dev: string
  readonly ino: string
  /** Its first bytes, which a file that is only appended to keeps. */
  readonly head: Head
}

export interface Head {
  readonly bytes: number
  readonly sha256: string
}

export interface InputFile {
  /** As it was given. */
  readonly name: string
  readonly handle: FileHandle
  readonly identity: Identity
  /** Bytes on disk. */
  readonly size: number
  readonly mtimeMs: number
  readonly isGzip: boolean
}

const HEAD_BYTES = 16 * 1024

/** @throws CommandError with what is wrong and what to do. The handle is the caller's to close */
export async function openFile(name: string): Promise<InputFile> {
  let handle: FileHandle | undefined
  try {
    const path = await realpath(name)
    // A FIFO would be waited for without end.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = await handle.stat({ bigint: true })
    if (stats.isDirectory())
      throw failure(`${name} is a folder; name the files in it, as ${name.replace(/\/+$/, '')}/*.log`)
    if (!stats.isFile()) throw failure(`${name} is no regular file; what comes through a pipe is sent with - as FILE`)
    const size = Number(stats.size)
    const bytes = await readHead(handle, Math.min(HEAD_BYTES, size))
    refuseOther(bytes, name)
    return {
      name,
      handle,
      size,
      mtimeMs: Number(stats.mtimeMs),
      isGzip: isGzip(bytes),
      identity: { path, dev: String(stats.dev), ino: String(stats.ino), head: headOf(bytes) },
    }
  } catch (error) {
    await handle?.close()
    if (error instanceof CommandError) throw error
    throw failure(`${name} cannot be read: ${reasonOf(error)}`)
  }
}

/** Whether the file still begins with these bytes. */
export async function beginsWith(handle: FileHandle, head: Head): Promise<boolean> {
  const bytes = await readHead(handle, head.bytes)
  return bytes.length === head.bytes && headOf(bytes).sha256 === head.sha256
}

async function readHead(handle: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

function headOf(bytes: Buffer): Head {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** @see RFC 1952, section 2.3.1 */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** By first bytes: sent as text they would be thousands of senseless entries. */
const OTHERS: readonly (readonly [name: string, mark: readonly number[], command: string])[] = [
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd], 'zstd -dc'],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], 'xz -dc'],
  ['bzip2', [0x42, 0x5a, 0x68], 'bzip2 -dc'],
  ['zip', [0x50, 0x4b, 0x03, 0x04], 'unzip -p'],
  ['UTF-16', [0xff, 0xfe], 'iconv -f UTF-16 -t UTF-8'],
  ['UTF-16', [0xfe, 0xff], 'iconv -f UTF-16 -t UTF-8'],
]

/** @throws CommandError */
export function refuseOther(bytes: Uint8Array, name: string): void {
  const found = OTHERS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))
  if (found === undefined) return
  const [format, , command] = found
  throw failure(
    `${name} is ${format}, and only plain text in UTF-8 and gzip are read: ${command} ${name === '-' ? 'FILE' : name} | pino-ingest send -`,
  )
}

function failure(message: string): CommandError {
  return new CommandError('FILE', message, EXIT_FAILED)
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return 'there is no such file'
    case 'EACCES':
      return 'its permissions do not allow it'
    default:
      return message
  }
}
