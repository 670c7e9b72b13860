/** The option `spool`: the values of its variable, and the check whether its folder is in memory. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isInMemory } from '../../src/options/spool-settings.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import type { Settings } from '../../src/options/resolve-options.js'

function resolve(env: Record<string, string>): Settings {
  return resolveOptions({ url: 'http://127.0.0.1:9/api/v1', apiKey: 'key' }, { env, readFile: () => '' })
}

test.each(['false', 'FALSE', 'False', '0'])('PINO_INGEST_SPOOL=%s disables the spool', (word) => {
  expect(resolve({ PINO_INGEST_SPOOL: word }).spool).toBe(false)
})

test.each(['true', 'TRUE', '1'])('PINO_INGEST_SPOOL=%s enables the spool', (word) => {
  expect(resolve({ PINO_INGEST_SPOOL: word }).spool).toMatchObject({ durability: 'process' })
})

test('PINO_INGEST_SPOOL may be JSON', () => {
  expect(resolve({ PINO_INGEST_SPOOL: '{"dir":"/var/spool/app"}' }).spool).toMatchObject({ dir: '/var/spool/app' })
})

test.each(['off', 'yes'])('PINO_INGEST_SPOOL=%s is rejected', (word) => {
  expect(() => resolve({ PINO_INGEST_SPOOL: word })).toThrow(/PINO_INGEST_SPOOL must be .* got/)
})

const SHARED_MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const hasTmpfs = existsSync(SHARED_MEMORY) && statfsSync(SHARED_MEMORY).type === TMPFS

test.skipIf(!hasTmpfs)('recognizes a folder in memory by any path, existing or not', () => {
  const dir = mkdtempSync(join(SHARED_MEMORY, 'pino-ingest-test-'))
  const before = process.cwd()
  onTestFinished(() => {
    process.chdir(before)
    rmSync(dir, { recursive: true })
  })
  process.chdir(dir)
  for (const path of [dir, '.', 'spool', './spool/deep', 'spool/deep/er', '../yet-to-be-made', `${dir}/spool`])
    expect([path, isInMemory(path)]).toEqual([path, true])
})

test('does not consider the root a folder in memory', () => {
  expect(isInMemory('/proc/none/such')).toBe(false)
})
