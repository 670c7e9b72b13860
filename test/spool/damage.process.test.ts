/** Content that the model does not write: links, other users' files, other types and names. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { filesBelow, instanceFolders, readFrames, segmentsBelow } from './disk-image.js'
import { KEY_OF_TESTS, ProcessRun } from './process-run.js'
import { deadLetter, numbersIn, useSpoolBench } from './spool-bench.js'

const LEASE_MS = 30_000
const STRANGER = 54_321
const isRoot = process.getuid?.() === 0

const bench = useSpoolBench({ batchSize: 4 })
const { scratch, root, destination, begin, kill } = bench

async function write(run: ProcessRun, entries: number, padding: number): Promise<void> {
  for (let n = 0; n < entries; n += 1) {
    run.add(JSON.stringify({ n, padding: 'x'.repeat(padding) }))
    run.batcher.commit()
    await bench.clock.advance(6)
  }
  run.batcher.seal()
}

/** A process that writes each entry separately and is killed. @returns path of its segment */
async function leave(entries = 10, padding = 20): Promise<string> {
  const run = begin()
  await write(run, entries, padding)
  kill(run)
  return segmentsBelow(root).at(-1)?.path as string
}

/** Processes that run at the same time, each with one batch. @returns paths of their segments */
async function leaveSeveral(count: number): Promise<string[]> {
  const several = Array.from({ length: count }, () => begin())
  for (const run of several) await write(run, 4, 20)
  for (const run of several) kill(run)
  return segmentsBelow(root).map(({ path }) => path)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

describe('a segment', () => {
  test('with random bytes larger than a window between two intact segments', async () => {
    const [, noisy] = (await leaveSeveral(3)) as [string, string]
    let state = 1
    writeFileSync(
      noisy,
      Buffer.from(Array.from({ length: 600_000 }, () => (state = (state * 48_271) % 0x7fffffff) & 0xff)),
    )
    const run = begin()
    expect(numbersIn(await run.recoverAll())).toEqual([0, 1, 2, 3, 0, 1, 2, 3])
    expect(run.problems.filter((problem) => problem.includes('are damaged'))).toHaveLength(1)
  })

  test.each(['link', 'folder', 'pipe'])(
    'replaced by a %s: rejected and reported, and the others are sent',
    async (kind) => {
      const [path] = (await leaveSeveral(2)) as [string]
      const other = join(scratch, 'somewhere else')
      renameSync(path, other)
      if (kind === 'link') symlinkSync(other, path)
      else if (kind === 'folder') mkdirSync(path)
      else execFileSync('mkfifo', [path])
      const run = begin()
      expect(numbersIn(await run.recoverAll())).toEqual([0, 1, 2, 3])
      expect(run.problems).toHaveLength(1)
      expect(readFrames(readFileSync(other)).length).toBeGreaterThan(0)
    },
  )
})

describe('an acknowledgement log', () => {
  async function partlySettled(): Promise<string> {
    const path = await leave(8)
    const run = begin()
    const [first] = await run.recoverAll()
    run.settle(first as Batch)
    kill(run)
    expect(numbersIn([first as Batch])).toEqual([0, 1, 2, 3])
    return filesBelow(root).find((file) => file.endsWith('.ack')) ?? path
  }

  test('without its segment is deleted with the folder', async () => {
    const journal = await partlySettled()
    rmSync(journal.replace(/ack$/, 'seg'))
    const run = begin()
    expect(await run.recoverAll()).toEqual([])
    expect(filesBelow(root).filter((file) => file.endsWith('.ack'))).toEqual([])
  })
})

describe('an owner file', () => {
  test.each([
    ['with other types', (path: string): void => writeFileSync(path, '{"pid":"1","start":7,"boot":[],"namespace":{}}')],
    [
      'a folder',
      (path: string): void => {
        rmSync(path)
        mkdirSync(path)
      },
    ],
  ])('%s: nothing is lost, and the lease decides', async (_, harm) => {
    await leave()
    const owner = join(destination, instanceFolders(destination)[0] as string, 'owner')
    harm(owner)
    const run = begin()
    await bench.clock.advance(3 * LEASE_MS)
    expect(numbersIn(await run.recoverAll())).toEqual(upTo(10))
    expect(run.problems).toEqual([])
  })
})

describe('folders', () => {
  test('are private, and so are files, for any umask', async () => {
    const umask = process.umask(0)
    try {
      const run = begin()
      run.add('{"n":0}')
      run.batcher.seal()
      run.settle(run.batches[0] as Batch)
      run.add('{"n":1}')
      run.batcher.seal()
      run.spool.writeDeadLetters([deadLetter()])
      await leave()
      begin()
    } finally {
      process.umask(umask)
    }
    const kinds = new Set(filesBelow(root).map((path) => path.replace(/.*[/.]/, '')))
    expect(kinds).toEqual(new Set(['seg', 'ack', 'owner', 'ndjson', 'destination']))
    for (const path of filesBelow(root)) expect([path, lstatSync(path).mode & 0o777]).toEqual([path, 0o600])
    for (const path of foldersBelow(root)) expect([path, lstatSync(path).mode & 0o777]).toEqual([path, 0o700])
  })

  test('made public by a copy become private again', () => {
    mkdirSync(destination, { recursive: true })
    chmodSync(destination, 0o777)
    begin()
    expect(lstatSync(destination).mode & 0o777).toBe(0o700)
  })

  test.each(['root', 'destination'])('a link in place of the %s is rejected; entries stay in memory', (place) => {
    const elsewhere = join(scratch, 'elsewhere')
    mkdirSync(elsewhere)
    if (place === 'destination') mkdirSync(root)
    symlinkSync(elsewhere, place === 'root' ? root : destination)
    const run = begin()
    expect(run.problems).toEqual([expect.stringMatching(/is a symbolic link; they stay in memory/)])
    run.add('{"n":0}')
    run.batcher.seal()
    expect(run.batches[0]).not.toHaveProperty('place')
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('a link in place of an instance is not followed', async () => {
    await leave()
    const [name] = instanceFolders(destination) as [string]
    const elsewhere = join(scratch, name)
    renameSync(join(destination, name), elsewhere)
    symlinkSync(elsewhere, join(destination, name))
    const run = begin()
    await bench.clock.advance(3 * LEASE_MS)
    expect(numbersIn(await run.recoverAll())).toEqual([])
    expect(filesBelow(elsewhere).some((path) => path.endsWith('.seg'))).toBe(true)
  })

  test('entries written with a previous key are sent, with an unknown key they are not', async () => {
    await leave()
    const stranger = begin({ apiKey: 'another key' })
    expect(await stranger.recoverAll()).toEqual([])
    expect(numbersIn(await begin({ apiKey: 'a third key', previousApiKeys: [KEY_OF_TESTS] }).recoverAll())).toEqual(
      upTo(10),
    )
  })

  test('names that are not instances are ignored', async () => {
    await leave()
    for (const name of ['notes', 'x.live', '..left', 'dead']) mkdirSync(join(destination, name))
    writeFileSync(join(destination, 'aaaaaaaa-aaaaaaaaaaaa.left'), 'a file')
    const run = begin()
    expect(numbersIn(await run.recoverAll())).toEqual(upTo(10))
    expect(readdirSync(destination)).toEqual(expect.arrayContaining(['notes', 'x.live', '..left', 'dead']))
  })

  const why = isRoot ? '' : ' (skipped: only root may give a folder to another user)'
  test.skipIf(!isRoot)(`of another user are rejected${why}`, async () => {
    mkdirSync(destination, { recursive: true })
    chownSync(destination, STRANGER, STRANGER)
    const run = begin()
    expect(run.problems).toEqual([expect.stringMatching(/belongs to another user \(uid 54321\)/)])
    run.add('{"n":0}')
    run.batcher.seal()
    expect(run.batches[0]).not.toHaveProperty('place')
    chownSync(destination, 0, 0)
  })

  test.skipIf(!isRoot)(`a segment of another user is not sent${why}`, async () => {
    const [path] = (await leaveSeveral(2)) as [string]
    lchownSync(path, STRANGER, STRANGER)
    const run = begin()
    expect(numbersIn(await run.recoverAll())).toEqual([0, 1, 2, 3])
    expect(run.problems).toEqual([expect.stringMatching(/is not a file of this user/)])
  })
})

function foldersBelow(folder: string): string[] {
  return [
    folder,
    ...readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => foldersBelow(join(folder, name))),
  ]
}
