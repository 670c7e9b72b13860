/** The check whether the folder of the spool is in memory. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isInMemory } from '../../src/options/spool-settings.js'

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
