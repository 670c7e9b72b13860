/** Checkpoints of `send` and their use by later runs. */
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Checkpoint } from '../../../src/cli/send/checkpoint.js'
import { CheckpointFolder } from '../../../src/cli/send/checkpoint-folder.js'
import type { CheckpointFolderOptions } from '../../../src/cli/send/checkpoint-folder.js'
import { isWindows } from '../../platform.js'

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function open(dir: string, more: Partial<CheckpointFolderOptions> = {}, file = '1:2'): Checkpoint {
  const checkpoint = new CheckpointFolder({ dir, destinations: ['there'], isRestart: false, ...more }).open(file)
  onTestFinished(() => checkpoint.close())
  return checkpoint
}

const counts = { accepted: 2, rejected: 1, filtered: 3 }

/** Simulates a process that is killed afterwards. */
function record(dir: string, offset = 10): Checkpoint {
  const checkpoint = open(dir)
  checkpoint.advance({ offset, lineStart: offset, tail: Buffer.from('tail') }, counts)
  return checkpoint
}

function pathIn(dir: string): string {
  return join(dir, 'there', readdirSync(join(dir, 'there'))[0] ?? '')
}

test('a run continues after a kill at the saved position, with the same batch ids', () => {
  const dir = newDir()
  const { namespace } = record(dir).state
  expect(open(dir).state).toMatchObject({ offset: 10, counts, namespace, done: null })
  if (!isWindows) expect(statSync(pathIn(dir)).mode & 0o777).toBe(0o600)
})

test('a record is replaced in place: the file does not grow', () => {
  const dir = newDir()
  const checkpoint = record(dir)
  const { size } = statSync(pathIn(dir))
  for (let offset = 0; offset < 1e15; offset += 1e12) checkpoint.save({ offset })
  checkpoint.save({
    done: { at: '2026-01-01T00:00:00.000Z', size: Number.MAX_SAFE_INTEGER, mtimeMs: Number.MAX_SAFE_INTEGER },
  })
  expect(statSync(pathIn(dir)).size).toBe(size)
  expect(open(dir).state.done).not.toBeNull()
})

test.each(['', 'text', '{}', '[1]', 'null', '{"version":2}', `{"version":1,"offset":"1"}`])(
  '%j is not a checkpoint: --restart ignores it',
  (content) => {
    const dir = newDir()
    record(dir)
    writeFileSync(pathIn(dir), content)
    expect(() => open(dir)).toThrow('--restart')
    expect(open(dir, { isRestart: true }).state.offset).toBe(0)
  },
)

test('files of other users in the folder are neither written nor trusted', () => {
  const dir = newDir()
  record(dir)
  const path = pathIn(dir)
  const notes = join(dir, 'notes')
  writeFileSync(notes, 'private')
  rmSync(path)
  linkSync(notes, path)
  expect(() => open(dir)).toThrow('hard links')
  rmSync(path)
  symlinkSync(join(dir, 'nothing'), path)
  expect(() => open(dir)).toThrow('symbolic link')
  rmSync(path)
  record(dir)
  if (!isWindows) {
    chmodSync(path, 0o666)
    expect(() => open(dir)).toThrow('mode 0666')
  }
  expect(readFileSync(notes, 'utf8')).toBe('private')
})

test('incomplete files of a killed process are removed', () => {
  const dir = newDir()
  record(dir)
  const path = pathIn(dir)
  appendFileSync(`${path}.0123456789abcdef.tmp`, 'half')
  open(dir)
  expect(readdirSync(join(dir, 'there'))).toHaveLength(1)
})

test('a folder that cannot be created: the message names the flag', () => {
  const dir = newDir()
  writeFileSync(join(dir, 'file'), '')
  expect(() => open(join(dir, 'file', 'below'))).toThrow('--state')
})
