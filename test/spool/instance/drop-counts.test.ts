/** Counts of drops in the instance's folder: whoever takes it over has them, once, whatever became of the file. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UnreportedDrops } from '../../../src/diagnostics/account.js'
import { destinationName } from '../../../src/spool/spool-root.js'
import type { SpoolOptions } from '../../../src/spool/spool.js'
import { FakeClock } from '../../fake-clock.js'
import { filesBelow } from '../disk-image.js'
import { KEY_OF_TESTS, ProcessRun, URL_OF_TESTS } from '../process-run.js'
import { useSpoolBench } from '../spool-bench.js'

const DROPS: UnreportedDrops = { dropped: { spool: 300, age: 20 }, lastAtMs: 1_800_000_000_000 }

const bench = useSpoolBench()
const { root, kill, close } = bench

/** It keeps what it takes over, as the pipeline does. */
function begin(taken: UnreportedDrops[] = [], spool: Partial<SpoolOptions> = {}): ProcessRun {
  return bench.begin({ onPreviousDrops: (drops) => void taken.push(drops), ...spool })
}

test.each([
  ['killed', kill],
  ['ended in order', close],
])('of a process that was %s the next one has them, and nobody after it', (_, end) => {
  const first = begin()
  first.spool.saveDropCounts({ ...DROPS, dropped: { spool: 1 } })
  first.spool.saveDropCounts(DROPS)
  end(first)
  const taken: UnreportedDrops[] = []
  close(begin(taken))
  close(begin(taken))
  expect(taken).toEqual([DROPS])
  expect(readdirSync(join(root, destinationName(URL_OF_TESTS, KEY_OF_TESTS)))).toEqual([])
})

test('reported counts are deleted', () => {
  const run = begin()
  run.spool.saveDropCounts(DROPS)
  run.spool.saveDropCounts(undefined)
  close(run)
  expect(filesBelow(root)).toEqual([])
})

test('what a dead process had taken over and kept is added to by those after it', () => {
  const taken: UnreportedDrops[] = []
  for (let n = 0; n < 3; n += 1) {
    const run = begin(taken)
    run.spool.saveDropCounts({ dropped: { spool: n + 1 }, lastAtMs: 1 })
    kill(run)
  }
  begin(taken)
  expect(taken.map(({ dropped }) => dropped)).toEqual([{ spool: 1 }, { spool: 2 }, { spool: 3 }])
})

test('who has no use for them leaves them where they are', () => {
  const first = begin()
  first.spool.saveDropCounts(DROPS)
  kill(first)
  close(begin([], { onPreviousDrops: undefined }))
  const taken: UnreportedDrops[] = []
  begin(taken)
  expect(taken).toEqual([DROPS])
})

test.each([
  ['nothing', ''],
  ['no JSON', '{"dropped":{"sp'],
  ['no object', '5'],
  ['no counts', '{"dropped":5,"lastAtMs":1}'],
  ['counts that are none', '{"dropped":{"spool":-1,"age":"9","other":3},"lastAtMs":1}'],
  ['too much', `{"dropped":{"spool":1},"pad":"${'x'.repeat(10_000)}"}`],
])('a file that holds %s stops no start, and goes', (_, text) => {
  const first = begin()
  first.spool.saveDropCounts(DROPS)
  kill(first)
  const [file = ''] = filesBelow(root).filter((path) => path.endsWith('/drops'))
  writeFileSync(file, text)
  const taken: UnreportedDrops[] = []
  const run = begin(taken)
  expect(taken).toEqual([])
  expect(run.problems).toEqual([])
  expect(filesBelow(root).filter((path) => path.endsWith('/drops'))).toEqual([])
})

test('a link in its place is not followed, and what the process keeps is reported as a problem', () => {
  const run = begin()
  const target = join(root, 'target')
  const [owner = ''] = filesBelow(root).filter((path) => path.endsWith('/owner'))
  symlinkSync(target, join(owner, '..', 'drops'))
  run.spool.saveDropCounts(DROPS)
  expect(run.problems).toHaveLength(1)
  expect(existsSync(target)).toBe(false)
})

test('where the disk takes nothing, that is reported once', () => {
  mkdirSync(root)
  const dir = join(root, 'file')
  writeFileSync(dir, '')
  const run = begin([], { dir })
  run.spool.saveDropCounts({ ...DROPS, dropped: { spool: 1 } })
  run.spool.saveDropCounts(DROPS)
  expect(run.problems).toHaveLength(1)
})

test('of another key they go when they are too old', () => {
  const folder = join(root, 'aaaaaaaaaaaaaaaa', 'mk2x0c1p-9f3a1c9f3a1c.left')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'drops'), JSON.stringify(DROPS))
  const eightDays = 8 * 24 * 3_600_000
  begin()
  expect(existsSync(folder)).toBe(true)
  bench.clock = new FakeClock(Date.now() + eightDays)
  begin()
  expect(existsSync(folder)).toBe(false)
})
