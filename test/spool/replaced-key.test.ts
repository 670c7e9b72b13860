/** The key changes while a process runs: who sends which entries afterwards. */
import { readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nameDestination } from '../../src/spool/spool-root.js'
import { filesBelow } from './disk-image.js'
import { failing } from './disk-faults.js'
import { KEY_OF_TESTS, URL_OF_TESTS } from './process-run.js'
import type { ProcessRun } from './process-run.js'
import { namesIn, useSpoolBench } from './spool-bench.js'

const SECOND = 'the second key'
const THIRD = 'the third key'
const SCAN_MS = 15_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REQUESTS_URL = `${URL_OF_TESTS}/requests`

const bench = useSpoolBench()
const { root, destination, begin, kill, close, setAge, inject, restore } = bench

const markerFor = (apiKey: string, url = URL_OF_TESTS): string => `replaced-${nameDestination(url, apiKey)}`

function write(run: ProcessRun, ...names: string[]): void {
  for (const name of names) run.add(JSON.stringify({ name }))
  run.batcher.seal()
}

async function namesOf(run: ProcessRun): Promise<string[]> {
  const batches = await run.recoverAll()
  for (const batch of batches) run.settle(batch)
  return namesIn(batches).toSorted()
}

test('a process that starts with the new key sends what was stored under the former one', async () => {
  const former = begin()
  write(former, 'before')
  former.spool.replaceKey(SECOND)
  write(former, 'after')
  expect(readdirSync(root)).toEqual([nameDestination(URL_OF_TESTS, KEY_OF_TESTS)])
  close(former)
  expect(await namesOf(begin({ apiKey: 'a stranger' }))).toEqual([])
  const present = begin({ apiKey: SECOND })
  expect(await namesOf(present)).toEqual(['after', 'before'])
  expect(present.account.snapshot()).toMatchObject({ recovered: 2, accepted: 2, balances: true })
})

test('the marker is empty, and only this user can read it', () => {
  const run = begin()
  run.spool.replaceKey(SECOND)
  run.spool.replaceKey(SECOND)
  const path = join(destination, markerFor(SECOND))
  expect(readFileSync(path, 'utf8')).toBe('')
  if (process.platform !== 'win32') expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
  expect(run.problems).toEqual([])
})

test('a running process with the new key sends it too, at its next scan', async () => {
  const former = begin()
  write(former, 'a')
  const present = begin({ apiKey: SECOND })
  former.spool.replaceKey(SECOND)
  kill(former)
  expect(await namesOf(present)).toEqual([])
  await bench.clock.advance(SCAN_MS)
  expect(await namesOf(present)).toEqual(['a'])
})

test('the process whose key changed sends what is stored under the new key', async () => {
  const earlier = begin({ apiKey: SECOND })
  write(earlier, 'a')
  kill(earlier)
  const run = begin()
  expect(await namesOf(run)).toEqual([])
  run.spool.replaceKey(SECOND)
  await bench.clock.advance(SCAN_MS)
  expect(await namesOf(run)).toEqual(['a'])
})

test('after several changes, in one process or in several, the latest key sends all', async () => {
  const first = begin()
  write(first, 'a')
  first.spool.replaceKey('a key that was wrong too')
  first.spool.replaceKey(SECOND)
  kill(first)
  const second = begin({ apiKey: SECOND })
  write(second, 'b')
  second.spool.replaceKey(THIRD)
  second.spool.replaceKey(SECOND)
  second.spool.replaceKey(THIRD)
  kill(second)
  const third = begin({ apiKey: THIRD })
  expect(await namesOf(third)).toEqual(['a', 'b'])
  kill(third)
  const other = begin()
  write(other, 'c')
  kill(other)
  expect(await namesOf(begin({ apiKey: THIRD }))).toEqual(['c'])
})

test('a key whose folder is one of previousApiKeys also follows', async () => {
  const former = begin()
  write(former, 'a')
  former.spool.replaceKey(SECOND)
  kill(former)
  expect(await namesOf(begin({ apiKey: THIRD, previousApiKeys: [SECOND] }))).toEqual(['a'])
})

test('entries for another URL stay where they are', async () => {
  const former = begin({ url: 'https://other.example.com/api/v1' })
  write(former, 'a')
  former.spool.replaceKey(SECOND)
  kill(former)
  expect(await namesOf(begin({ apiKey: SECOND }))).toEqual([])
})

test('the former key again: its process sends its own entries', async () => {
  const run = begin()
  run.spool.replaceKey(SECOND)
  run.spool.replaceKey(KEY_OF_TESTS)
  write(run, 'a')
  kill(run)
  expect(await namesOf(begin())).toEqual(['a'])
})

test('the marker is written again after the folder was deleted', async () => {
  const former = begin()
  former.spool.replaceKey(SECOND)
  rmSync(destination, { recursive: true })
  await bench.clock.advance(SCAN_MS)
  write(former, 'a')
  kill(former)
  expect(await namesOf(begin({ apiKey: SECOND }))).toEqual(['a'])
})

test('a marker that cannot be written is reported, and written at a later scan', async () => {
  const former = begin()
  write(former, 'a')
  inject(failing('openSync', ([path]) => (String(path).includes('replaced-') ? 'EACCES' : undefined)))
  former.spool.replaceKey(SECOND)
  expect(former.problems).toEqual([expect.stringContaining('EACCES')])
  restore()
  await bench.clock.advance(SCAN_MS)
  kill(former)
  expect(await namesOf(begin({ apiKey: SECOND }))).toEqual(['a'])
})

test.skipIf(process.platform === 'win32')('a link in place of the former folder is not followed', async () => {
  const former = begin()
  write(former, 'a')
  former.spool.replaceKey(SECOND)
  kill(former)
  const elsewhere = join(bench.scratch, 'elsewhere')
  renameSync(destination, elsewhere)
  symlinkSync(elsewhere, destination)
  expect(await namesOf(begin({ apiKey: SECOND }))).toEqual([])
  expect(filesBelow(elsewhere).some((path) => path.endsWith('.seg'))).toBe(true)
})

test('entries of a replaced key are not reported as those of another, and expire as own ones', async () => {
  const former = begin()
  write(former, 'a')
  former.spool.markKeyRejected()
  former.spool.replaceKey(SECOND)
  kill(former)
  setAge(2 * DAY_MS)
  const present = begin({ apiKey: SECOND, maxAgeMs: DAY_MS })
  expect(await namesOf(present)).toEqual([])
  expect(present.notes).toEqual([])
  expect(present.account.snapshot()).toMatchObject({ recovered: 1, dropped: { age: 1 }, balances: true })
})

test.each([true, false])(
  'entries that another spool of this process sends are not reported as those of another key: %s',
  async (isReplaced) => {
    const [former, present] = [begin({ url: REQUESTS_URL }), begin({ url: REQUESTS_URL, apiKey: SECOND })]
    write(former, 'a')
    write(present, 'b')
    if (isReplaced) former.spool.replaceKey(SECOND)
    const run = begin({ apiKey: 'one more former key', siblingUrls: [REQUESTS_URL] })
    if (isReplaced) run.spool.replaceKey(SECOND)
    kill(former)
    kill(present)
    setAge(HOUR_MS)
    await bench.clock.advance(SCAN_MS)
    const [{ message = '' } = {}] = run.notes
    const isNamed = [KEY_OF_TESTS, SECOND].map((key) => message.includes(nameDestination(REQUESTS_URL, key)))
    expect(isNamed).toEqual([!isReplaced, !isReplaced])
  },
)
