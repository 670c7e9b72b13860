/** One running service per file. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../../src/service/index.js'
import { entryOf, ingest, started } from '../support.js'

function place(): { file: string; lock: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, file: join(folder, 'kept.ndjson'), lock: join(folder, 'kept.ndjson.lock') }
}

test("a second service on the file is refused with the first one's process id, under any path; the first one's records are unchanged", async () => {
  const { file, folder } = place()
  const first = await started({ dbFile: file })
  await ingest(first, [entryOf()])
  const link = join(folder, 'link')
  symlinkSync(folder, link)
  for (const dbFile of [file, join(link, basename(file))]) {
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

test.each([
  ['held by another process', String(process.ppid)],
  ['that another process is writing', ''],
])('a lock %s is refused', async (_, text) => {
  const { file, lock } = place()
  writeFileSync(lock, text, { mode: 0o600 })
  await expect(createIngestService({ dbFile: file })).rejects.toMatchObject({
    message: expect.stringMatching(new RegExp(`process ${text || 'unknown'}.*delete ${lock}`)),
  })
})

test.each([
  ['of a process that has ended', () => spawnSync(process.execPath, ['-e', '']).pid],
  ['of an earlier process with the same id, as in a container', () => process.pid],
  ['of an earlier process whose id another process reuses', () => `${process.ppid} 1 token`],
  ['without a process id, as after a crash or on a full disk', () => ''],
])('a lock %s is taken over', async (_, holder) => {
  const { file, lock } = place()
  writeFileSync(lock, String(holder()), { mode: 0o600 })
  utimesSync(lock, 0, 0)
  const service = await started({ dbFile: file })
  expect(readFileSync(lock, 'utf8').split(' ')[0]).toBe(String(process.pid))
  await service.close()
  expect(existsSync(lock)).toBe(false)
})

test('a worker thread does not take over the lock of the main thread', async () => {
  const { file, lock } = place()
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  writeFileSync(lock, `${process.pid} ${startTime} token`, { mode: 0o600 })
  await expect(createIngestService({ dbFile: file })).rejects.toMatchObject({ code: 'STORE' })
  expect(existsSync(lock)).toBe(true)
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
