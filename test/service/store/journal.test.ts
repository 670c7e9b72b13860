import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../../src/service/store/store.js'
import { isWindows } from '../../platform.js'
import { fullAfter, renamesAsOnWindows } from '../../spool/disk-faults.js'
import { freshFile as file, openStore as open, storedEntry } from './open-store.js'

const record = (seq: number, message = 'hello') => storedEntry(seq, { message })
const seqs = (store: Store): number[] => [...store.newestFirst('entry')].map(({ seq }) => seq)

it('has written a record when append returns, readable only by the owner', () => {
  const path = file()
  open(path).store.append('entry', [record(1)], 1)
  expect(
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))[1],
  ).toEqual({ kind: 'entry', record: record(1) })
  if (!isWindows) expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('skips an incomplete last line and appends after it', () => {
  const path = file()
  const before = open(path).store
  before.append('entry', [record(1), record(2)], 1)
  before.close()
  appendFileSync(path, '{"kind":"entry","record":{"id":"ent_run_3","seq":3,"rec')
  const torn = open(path)
  expect(seqs(torn.store)).toEqual([2, 1])
  expect(torn.problems).toEqual([expect.stringContaining('1 damaged line')])
  torn.store.append('entry', [record(4)], 1)
  torn.store.close()
  expect(seqs(open(path).store)).toEqual([4, 2, 1])
})

it('skips damaged and unknown lines', () => {
  const path = file()
  open(path).store.append('entry', [record(1)], 1)
  appendFileSync(
    path,
    '\0\0\0\n[]\n{"kind":"other","record":{"id":"x","seq":1,"received_at":""}}\n{"kind":"entry","record":{}}\n',
  )
  open(path).store.append('entry', [record(2)], 1)
  const { store, problems } = open(path)
  expect(seqs(store)).toEqual([2, 1])
  expect(problems).toEqual([expect.stringContaining('4 damaged')])
})

it('reads lines that are longer than a chunk, and characters across two chunks', () => {
  const path = file()
  const long = 'é💥'.repeat(700_000)
  const { store } = open(path)
  store.append('entry', [record(1, long), record(2, 'x'), record(3, long)], 1)
  store.close()
  const messages = [...open(path).store.newestFirst('entry')].map(({ record: { entry } }) => entry.message)
  expect(messages.map((message) => message === long)).toEqual([true, false, true])
})

it('rewrites the file when it is much larger than the stored records, and appends to the new file', () => {
  const path = file()
  const { store } = open(path, { maxEntries: 10, compactSlackBytes: 5000 })
  for (let seq = 1; seq <= 1000; seq++) store.append('entry', [record(seq)], 1)
  expect(statSync(path).size).toBeLessThan(15_000)
  store.close()
  expect(readdirSync(dirname(path))).toEqual(['store'])
  expect(seqs(open(path, { maxEntries: 10 }).store)).toEqual([1000, 999, 998, 997, 996, 995, 994, 993, 992, 991])
})

it('is rewritten on Windows, too, which replaces no open file', () => {
  const path = file()
  const { store, problems } = open(path, { maxEntries: 10, compactSlackBytes: 5000 })
  onTestFinished(renamesAsOnWindows())
  for (let seq = 1; seq <= 1000; seq++) store.append('entry', [record(seq)], 1)
  expect(problems).toEqual([])
  expect(statSync(path).size).toBeLessThan(15_000)
  store.close()
})

it('deletes the records on disk when it is cleared', () => {
  const path = file()
  const { store } = open(path)
  store.append('entry', [record(1, 'private')], 1)
  store.clear()
  store.append('entry', [record(2)], 1)
  store.close()
  expect(readFileSync(path, 'utf8')).not.toContain('private')
  expect(seqs(open(path).store)).toEqual([2])
})

it('removes the temporary file of an interrupted rewrite', () => {
  const path = file()
  open(path).store.append('entry', [record(1)], 1)
  for (const name of ['store.17.tmp', 'store.tmp', 'other.17.tmp']) appendFileSync(join(dirname(path), name), 'private')
  expect(seqs(open(path).store)).toEqual([1])
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['other.17.tmp', 'store', 'store.tmp'])
})

it('continues in memory after a write error, and reports it once', () => {
  const path = file()
  const { store, problems } = open(path, { maxEntries: 10, compactSlackBytes: 1000 })
  store.append('entry', [record(1)], 1)
  rmSync(dirname(path), { recursive: true })
  onTestFinished(() => mkdirSync(dirname(path)))
  for (let seq = 2; seq <= 100; seq++) store.append('entry', [record(seq)], 1)
  expect(problems).toEqual([expect.stringContaining('in memory only')])
  expect(seqs(store)).toHaveLength(10)
})

it.each([0, 1, 100])('leaves no partial line when the disk is full after %i bytes', (bytes) => {
  const path = file()
  const { store, problems } = open(path)
  store.append('entry', [record(1)], 1)
  const before = readFileSync(path, 'utf8')
  onTestFinished(fullAfter(bytes, (written) => written === path))
  store.append('entry', [record(2)], 1)
  expect(problems).toEqual([expect.stringMatching(/ENOSPC.*in memory only/)])
  expect(readFileSync(path, 'utf8')).toBe(before)
  expect(seqs(store)).toEqual([2, 1])
})

it('refuses a file that is not a journal, and does not change it', () => {
  const path = file()
  appendFileSync(path, '{"name":"my-app"}\n', { mode: 0o600 })
  expect(() => open(path)).toThrow(expect.objectContaining({ code: 'STORE', message: expect.stringContaining(path) }))
  expect(readFileSync(path, 'utf8')).toBe('{"name":"my-app"}\n')
  if (!isWindows) expect(() => open('/dev/zero')).toThrow(expect.objectContaining({ code: 'STORE' }))
})
