/**
 * Drop counts in the instance's folder: the process that takes it over receives them once, for any state of the file.
 */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { UnreportedDrops } from '../../../src/diagnostics/account.js'
import type { SpoolOptions } from '../../../src/spool/spool.js'
import { FakeClock } from '../../fake-clock.js'
import { filesBelow } from '../disk-image.js'
import { ProcessRun } from '../process-run.js'
import { useSpoolBench } from '../spool-bench.js'

const DROPS: UnreportedDrops = { dropped: { spool: 300, age: 20 }, lastAtMs: 1_800_000_000_000 }

const bench = useSpoolBench()
const { root, destination, kill, close } = bench

/** Keeps the counts it takes over, as the pipeline does. */
function begin(taken: UnreportedDrops[] = [], spool: Partial<SpoolOptions> = {}): ProcessRun {
  return bench.begin({ onPreviousDrops: (drops) => void taken.push(drops), ...spool })
}

test.each([
  ['killed', kill],
  ['closed', close],
])('of a process that was %s are passed to the next process only', (_, end) => {
  const first = begin()
  first.spool.saveDropCounts({ ...DROPS, dropped: { spool: 1 } })
  first.spool.saveDropCounts(DROPS)
  end(first)
  const taken: UnreportedDrops[] = []
  close(begin(taken))
  close(begin(taken))
  expect(taken).toEqual([DROPS])
  expect(filesBelow(destination)).toEqual([`${destination}/destination`])
})

test('reported counts are deleted', () => {
  const run = begin()
  run.spool.saveDropCounts(DROPS)
  run.spool.saveDropCounts(undefined)
  close(run)
  expect(filesBelow(destination)).toEqual([`${destination}/destination`])
})

test('counts that a dead process took over are kept, and later ones are added', () => {
  const taken: UnreportedDrops[] = []
  for (let n = 0; n < 3; n += 1) {
    const run = begin(taken)
    run.spool.saveDropCounts({ dropped: { spool: n + 1 }, lastAtMs: 1 })
    kill(run)
  }
  begin(taken)
  expect(taken.map(({ dropped }) => dropped)).toEqual([{ spool: 1 }, { spool: 2 }, { spool: 3 }])
})

test('a process without onPreviousDrops does not remove them', () => {
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
  ['invalid counts', '{"dropped":{"spool":-1,"age":"9","other":3},"lastAtMs":1}'],
  ['too much', `{"dropped":{"spool":1},"pad":"${'x'.repeat(10_000)}"}`],
])('a file with %s does not prevent the start, and is deleted', (_, text) => {
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

test('does not follow a link in its place, and reports that the counts are not stored', () => {
  const run = begin()
  const target = join(root, 'target')
  const [owner = ''] = filesBelow(root).filter((path) => path.endsWith('/owner'))
  symlinkSync(target, join(owner, '..', 'drops'))
  run.spool.saveDropCounts(DROPS)
  expect(run.problems).toHaveLength(1)
  expect(existsSync(target)).toBe(false)
})

test('reports once that the disk is not writable', () => {
  mkdirSync(root)
  const dir = join(root, 'file')
  writeFileSync(dir, '')
  const run = begin([], { dir })
  run.spool.saveDropCounts({ ...DROPS, dropped: { spool: 1 } })
  run.spool.saveDropCounts(DROPS)
  expect(run.problems).toHaveLength(1)
})

test('counts for another key are deleted when they are too old', () => {
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
