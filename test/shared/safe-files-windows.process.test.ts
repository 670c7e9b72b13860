/** Behavior without `O_NOFOLLOW`, as on Windows. Runs in its own process, since it mocks `node:fs`. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { scratch } from '../client/release/clones.js'
import { started } from '../service/support.js'

vi.mock(import('node:fs'), async (load) => {
  const fs = await load()
  return { ...fs, constants: { ...fs.constants, O_NOFOLLOW: undefined as never } }
})

test.each([true, false])('rejects a link to a file (its target exists: %s)', async (hasTarget) => {
  const folder = scratch()
  const [target, link] = ['target', 'link'].map((name) => join(folder, name)) as [string, string]
  if (hasTarget) writeFileSync(target, '', { mode: 0o600 })
  symlinkSync(target, link)
  await expect(createIngestService({ dbFile: link })).rejects.toMatchObject({ code: 'STORE' })
  expect(existsSync(target)).toBe(hasTarget)
  await started({ dbFile: target })
})
