/** Files with keys and tokens. A FIFO without a writer would block the process. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeReadError, readRegularFile } from '../../src/shared/safe-files.js'
import { resolveFromProcess } from '../../src/options/resolve-options.js'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-read-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('reads a file, also through a link, as secrets are mounted in containers', () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'file'), 'secret')
  symlinkSync(join(folder, 'file'), join(folder, 'link'))
  expect(readRegularFile(join(folder, 'link'))).toBe('secret')
})

function refusal(path: string): string | undefined {
  try {
    readRegularFile(path)
    return undefined
  } catch (error) {
    return describeReadError(error)
  }
}

test('rejects a FIFO and a folder at once, and a file of more than 1 MiB', () => {
  const folder = newFolder()
  const [fifo, file] = [join(folder, 'fifo'), join(folder, 'file')]
  execFileSync('mkfifo', [fifo])
  expect([fifo, folder].map(refusal)).toEqual(['not a regular file', 'not a regular file'])
  writeFileSync(file, 'x'.repeat(2 ** 20))
  expect(refusal(file)).toBeUndefined()
  appendFileSync(file, 'x')
  expect(refusal(file)).toContain('1 MiB')
})

test('a key file that is a FIFO is an invalid configuration', () => {
  const fifo = join(newFolder(), 'fifo')
  execFileSync('mkfifo', [fifo])
  process.env['PINO_INGEST_API_KEY_FILE'] = fifo
  onTestFinished(() => void delete process.env['PINO_INGEST_API_KEY_FILE'])
  expect(() => resolveFromProcess({ url: 'http://127.0.0.1:9/api/v1' })).toThrow('not a regular file')
})
