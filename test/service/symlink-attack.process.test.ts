/** What another user can put in the place of the store's files, in a folder that both can write to: nothing of it is written, followed, trusted or waited for. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import type fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { MemoryStore } from '../../src/service/store/memory-store.js'
import { hasSqlite } from '../../src/service/store/sqlite-file.js'
import { scratch } from '../client/release/clones.js'
import { devEnv } from '../cli/dev-started.js'
import { runCli } from '../cli/run-cli.js'
import { removeScratch, scratchFolder } from '../spool/scratch.js'
import { entryOf, ingest, started } from './support.js'

const STRANGER = 12_345
const isRoot = process.getuid?.() === 0
const asRoot = isRoot ? '' : ' (skipped: only root can give files to another user)'
const STORES = ['memory', ...(hasSqlite() ? ['sqlite' as const] : [])] as const
const PRIVATE = 'private notes of the user\n'

interface Place {
  readonly folder: string
  readonly file: string
  /** Of the user, elsewhere. */
  readonly victim: string
}

/** A folder as `/tmp`: everybody writes to it, and deletes only what is his own. */
function place(): Place {
  const folder = scratch()
  chmodSync(folder, 0o1777)
  const victim = join(scratch(), 'notes')
  writeFileSync(victim, PRIVATE, { mode: 0o600 })
  return { folder, file: join(folder, 'db'), victim }
}

/** Of another user, and open to all. */
function plant(path: string, content = ''): void {
  writeFileSync(path, content)
  chmodSync(path, 0o666)
  chownSync(path, STRANGER, STRANGER)
}

/** @param facts that the message names */
async function refused(store: 'memory' | 'sqlite', file: string, ...facts: readonly string[]): Promise<void> {
  const error = await createIngestService({ store, dbFile: file }).then(
    (service) => service.close(),
    (reason: unknown) => reason as { code: string; message: string },
  )
  expect(error).toMatchObject({ code: 'STORE' })
  for (const fact of [file, ...facts]) expect((error as { message: string }).message).toContain(fact)
}

describe.each(STORES)('store %s', (store) => {
  test("a shared folder with nothing in it is used, and the file is the user's alone", async () => {
    const { file } = place()
    const service = await started({ store, dbFile: file })
    await ingest(service, [entryOf()])
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
  })

  test('a symbolic link', async () => {
    const { file, victim } = place()
    writeFileSync(victim, '')
    symlinkSync(victim, file)
    await refused(store, file, 'symbolic link')
    expect(readFileSync(victim, 'utf8')).toBe('')
  })

  test('a symbolic link to a file that is not there', async () => {
    const { file, victim } = place()
    rmSync(victim)
    symlinkSync(victim, file)
    await refused(store, file, 'symbolic link')
    expect(existsSync(victim)).toBe(false)
  })

  test('a file that others can write', async () => {
    const { file } = place()
    writeFileSync(file, '')
    chmodSync(file, 0o666)
    await refused(store, file, 'mode 0666')
    expect(readFileSync(file, 'utf8')).toBe('')
  })

  test.skipIf(!isRoot)(`a file of another user${asRoot}`, async () => {
    const { file } = place()
    plant(file)
    await refused(store, file, `uid ${STRANGER}`)
    expect(readFileSync(file, 'utf8')).toBe('')
  })

  test('a hard link to a file of the user', async () => {
    const { folder, file } = place()
    const victim = join(folder, 'notes')
    writeFileSync(victim, '', { mode: 0o600 })
    linkSync(victim, file)
    await refused(store, file, 'hard links')
    expect(readFileSync(victim, 'utf8')).toBe('')
  })

  test.skipIf(!isRoot)(`a lock of another user, and one that is a link${asRoot}`, async () => {
    const { file, victim } = place()
    plant(`${file}.lock`, JSON.stringify({ pid: 1, started: null }))
    await refused(store, file, `${file}.lock`, `uid ${STRANGER}`)
    rmSync(`${file}.lock`)
    symlinkSync(victim, `${file}.lock`)
    await refused(store, file, `${file}.lock`, 'symbolic link')
    expect(readFileSync(victim, 'utf8')).toBe(PRIVATE)
  })

  test('a folder in which every user can replace files', async () => {
    const { folder, file } = place()
    chmodSync(folder, 0o777)
    await refused(store, file, `${folder} (mode 0777)`)
    expect(existsSync(file)).toBe(false)
  })

  test.skipIf(!isRoot)(`a folder of another user${asRoot}`, async () => {
    const { folder, file } = place()
    chownSync(folder, STRANGER, STRANGER)
    await refused(store, file, `uid ${STRANGER}`)
  })

  // As programs of their own: where they wait, they are ended with the test.
  test.each(['', '.lock'])('a FIFO as FILE%s does not hold the start up', async (suffix) => {
    const { file } = place()
    execFileSync('mkfifo', ['-m', '600', file + suffix])
    const { code, stderr } = await runCli(['dev', '--port', '0', '--store', store, '--db', file], devEnv())
    expect({ code, isNamed: stderr.includes(`${file + suffix} is a FIFO`) }).toEqual({ code: 1, isNamed: true })
  })
})

describe("the journal's temporary file", () => {
  function rewriting(file: string): { store: MemoryStore; problems: string[]; rewrite: () => void } {
    const problems: string[] = []
    const store = new MemoryStore({
      maxEntries: 10,
      maxBytes: 1 << 26,
      compactSlackBytes: 1_000,
      file,
      onProblem: (text) => problems.push(text),
    })
    onTestFinished(() => store.close())
    let seq = 0
    const rewrite = (): void => {
      for (let n = 0; n < 100; n += 1)
        store.append(
          'entry',
          [
            {
              id: `ent_run_${seq}`,
              seq: (seq += 1),
              received_at: '2026-01-01T00:00:00.000Z',
              batch_id: 'b',
              entry: entryOf(),
            },
          ],
          1,
        )
    }
    return { store, problems, rewrite }
  }

  test('does not follow a symbolic link', () => {
    const { file, victim } = place()
    const { store, problems, rewrite } = rewriting(file)
    symlinkSync(victim, `${file}.${process.pid}.tmp`)
    const before = lstatSync(file).ino
    rewrite()
    expect(readFileSync(victim, 'utf8')).toBe(PRIVATE)
    expect(lstatSync(file).isFile()).toBe(true)
    expect(lstatSync(file).ino).not.toBe(before)
    expect(problems).toEqual([])
    expect(store.entries({ limit: Infinity }).items).toHaveLength(10)
  })

  test('is noticed when another process exchanges it before it is renamed: nothing is written to the other', () => {
    const { file, folder } = place()
    const { problems, rewrite } = rewriting(file)
    const other = join(folder, 'other')
    writeFileSync(other, '')
    const system = createRequire(import.meta.url)('node:fs') as typeof fs
    const { renameSync: real } = system
    const exchange = (to: unknown): void => {
      Object.assign(system, { renameSync: to })
      syncBuiltinESMExports()
    }
    exchange((from: string, to: string) => {
      real(other, from)
      real(from, to)
    })
    try {
      rewrite()
    } finally {
      exchange(real)
    }
    expect(problems).toEqual([expect.stringContaining('in memory only')])
    expect(readFileSync(file, 'utf8')).toBe('')
  })

  test.skipIf(!isRoot)(`of others is left alone, and does not stop a start${asRoot}`, async () => {
    const { file } = place()
    mkdirSync(`${file}.17.tmp`)
    plant(`${file}.18.tmp`, 'theirs')
    await started({ dbFile: file })
    expect(readFileSync(`${file}.18.tmp`, 'utf8')).toBe('theirs')
    expect(existsSync(`${file}.17.tmp`)).toBe(true)
  })
})

describe('a journal of 4 GiB that takes nothing on the disk', () => {
  function sparse(head: string, tail: string): string {
    const folder = scratchFolder()
    onTestFinished(() => removeScratch(folder))
    const file = join(folder, 'db')
    writeFileSync(file, head, { mode: 0o600 })
    truncateSync(file, 4 * 1024 ** 3)
    appendFileSync(file, tail)
    return file
  }

  test('without a header is refused', () => refused('memory', sparse('', ''), 'not a journal'))

  test('with a line of that length: it costs that line alone', async () => {
    const { file } = place()
    const first = await createIngestService({ dbFile: file })
    await ingest(first, [entryOf()])
    await first.close()
    const [header, ...records] = readFileSync(file, 'utf8').trimEnd().split('\n')
    const problems: string[] = []
    const concat = vi.spyOn(Buffer, 'concat')
    onTestFinished(() => concat.mockRestore())
    const second = await started({
      dbFile: sparse(`${header}\n`, `\n${records.join('\n')}\n`),
      onProblem: (message) => problems.push(message),
    })
    expect(second.arrived).toBe(1)
    expect(problems).toEqual([expect.stringContaining('1 damaged')])
    expect(concat.mock.results.filter(({ value }) => (value as Buffer).length > 256 * 1024 ** 2)).toEqual([])
  })
})

describe.skipIf(!hasSqlite() || !isRoot)("SQLite's own files beside the store's", () => {
  test.each(['-wal', '-shm', '-journal'])('FILE%s of another user, or a link', async (suffix) => {
    const { file, victim } = place()
    plant(file + suffix)
    await refused('sqlite', file, file + suffix, `uid ${STRANGER}`)
    rmSync(file + suffix)
    symlinkSync(victim, file + suffix)
    await refused('sqlite', file, file + suffix, 'symbolic link')
    expect(readFileSync(victim, 'utf8')).toBe(PRIVATE)
    expect(existsSync(file)).toBe(false)
  })

  test("the store's own files, as a killed process leaves them, are used", async () => {
    const { file } = place()
    const first = await createIngestService({ store: 'sqlite', dbFile: file })
    await ingest(first, [entryOf()])
    for (const suffix of ['', '-wal', '-shm'])
      writeFileSync(`${file}.copy${suffix}`, readFileSync(file + suffix), { mode: 0o600 })
    await first.close()
    for (const suffix of ['', '-wal', '-shm']) renameSync(`${file}.copy${suffix}`, file + suffix)
    expect((await started({ store: 'sqlite', dbFile: file })).arrived).toBe(1)
  })
})
