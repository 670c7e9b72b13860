/** One running service a file. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../../src/service/index.js'
import { entryOf, ingest, started } from '../support.js'

function place(): { file: string; lock: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, file: join(folder, 'kept.ndjson'), lock: join(folder, 'kept.ndjson.lock') }
}

test("a second service on the file is refused with the first one's process, by whatever name; what the first keeps is as it was", async () => {
  const { file, folder } = place()
  const first = await started({ dbFile: file })
  await ingest(first, [entryOf()])
  const link = join(folder, 'link.ndjson')
  symlinkSync(file, link)
  for (const dbFile of [file, link]) {
    await expect(createIngestService({ dbFile })).rejects.toMatchObject({
      code: 'STORE',
      message: expect.stringContaining(`${dbFile} is in use by another local service (process ${process.pid})`),
    })
  }
  await ingest(first, [entryOf()])
  await first.close()
  const second = await started({ dbFile: file })
  expect(second.arrived).toBe(2)
})

test('another process holds it', async () => {
  const { file, lock } = place()
  writeFileSync(lock, JSON.stringify({ pid: process.ppid, started: null }))
  await expect(createIngestService({ dbFile: file })).rejects.toMatchObject({
    message: expect.stringContaining(`process ${process.ppid}`),
  })
})

test.each([
  ['of a process that is gone', () => ({ pid: spawnSync(process.execPath, ['-e', '']).pid, started: null })],
  ['of one whose id another has now', () => ({ pid: process.ppid, started: '1' })],
  ['of an earlier life with the same id, as in a container', () => ({ pid: process.pid, started: '1' })],
])('a lock %s is taken over', async (what, holder) => {
  const { file, lock } = place()
  if (what.includes('another') && process.platform !== 'linux') return
  writeFileSync(lock, JSON.stringify(holder()))
  const service = await started({ dbFile: file })
  expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: process.pid })
  await service.close()
  expect(existsSync(lock)).toBe(false)
})

test('a lock that is being filled counts, an old empty one does not', async () => {
  const { file, lock } = place()
  writeFileSync(lock, '')
  await expect(createIngestService({ dbFile: file })).rejects.toMatchObject({ code: 'STORE' })
  utimesSync(lock, 0, 0)
  await started({ dbFile: file })
})

test('a start that fails leaves no lock', async () => {
  const { file, lock } = place()
  writeFileSync(file, 'not a journal\n')
  await expect(createIngestService({ dbFile: file })).rejects.toMatchObject({ code: 'STORE' })
  const { port } = await started()
  rmSync(file)
  await expect(createIngestService({ dbFile: file, port })).rejects.toMatchObject({ code: 'PORT' })
  expect(existsSync(lock)).toBe(false)
})
