/** Another user creates files in a shared folder in place of the journal: the service does not write, follow, trust or wait for them. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { resolveStoreFile } from '../../src/service/store/store-file.js'
import { Store } from '../../src/service/store/store.js'
import { scratch } from '../client/release/clones.js'
import { devEnv } from '../cli/dev-started.js'
import { runCli } from '../cli/run-cli.js'
import { replaceCalls, system } from '../spool/disk-faults.js'
import { entryOf, ingest, started } from './support.js'

const STRANGER = 12_345
const isRoot = process.getuid?.() === 0
const asRoot = isRoot ? '' : ' (skipped: only root can give files to another user)'
const PRIVATE = 'private notes of the user\n'

interface Place {
  readonly folder: string
  readonly file: string
  /** A file of the user in another folder. */
  readonly victim: string
}

/** Creates a folder like `/tmp`: every user can write to it, and can delete only own files. */
function place(): Place {
  const folder = scratch()
  chmodSync(folder, 0o1777)
  const victim = join(scratch(), 'notes')
  writeFileSync(victim, PRIVATE, { mode: 0o600 })
  return { folder, file: join(folder, 'db'), victim }
}

/** Creates a file of another user that everybody can read and write. */
function plant(path: string, content = ''): string {
  writeFileSync(path, content)
  chmodSync(path, 0o666)
  chownSync(path, STRANGER, STRANGER)
  return path
}

/** @param facts that the message names */
async function refused(file: string, ...facts: readonly string[]): Promise<void> {
  const error = await createIngestService({ dbFile: file }).then(
    (service) => service.close(),
    (reason: unknown) => reason as { code: string; message: string },
  )
  expect(error).toMatchObject({ code: 'STORE' })
  for (const fact of [file, ...facts]) expect((error as { message: string }).message).toContain(fact)
}

describe('in place of the journal or its lock', () => {
  test('an empty shared folder is used, and the file is private to the user', async () => {
    const { file } = place()
    const service = await started({ dbFile: file })
    await ingest(service, [entryOf()])
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
  })

  /** Creates an empty file of the user at the path. */
  const own = (path: string): string => {
    writeFileSync(path, '', { mode: 0o600 })
    return path
  }
  const link = (target: string, path: string): string => {
    symlinkSync(target, path)
    return target
  }
  /** `prepare` returns the file that must not change; `fact` is in the message. */
  test.each<readonly [of: string, fact: string, prepare: (where: Place) => string]>([
    ['a symbolic link', 'symbolic link', ({ file, victim }) => link(own(victim), file)],
    [
      'a symbolic link to a file with a lock',
      'symbolic link',
      ({ file, victim }) => {
        link(victim, file)
        const lock = own(`${victim}.lock`)
        utimesSync(lock, 1, 1)
        return lock
      },
    ],
    [
      'a file that others can write',
      'mode 0666',
      ({ file }) => {
        chmodSync(own(file), 0o666)
        return file
      },
    ],
    ['a file of another user', `uid ${STRANGER}`, ({ file }) => plant(file)],
    [
      'a hard link to a file of the user',
      'hard links',
      ({ folder, file }) => {
        linkSync(own(join(folder, 'notes')), file)
        return file
      },
    ],
    ['a lock of another user', '.lock', ({ file }) => plant(`${file}.lock`, '1')],
    ['a lock that is a link', '.lock', ({ file, victim }) => link(victim, `${file}.lock`)],
  ])('%s is refused', async (of, fact, prepare) => {
    if (!isRoot && of.endsWith('another user')) return // only root can give files to another user
    const where = place()
    const victim = prepare(where)
    const before = readFileSync(victim, 'utf8')
    await refused(where.file, fact)
    expect(readFileSync(victim, 'utf8')).toBe(before)
  })

  test('a symbolic link to a missing file', async () => {
    const { file, victim } = place()
    rmSync(victim)
    symlinkSync(victim, file)
    await refused(file, 'symbolic link')
    expect(existsSync(victim)).toBe(false)
  })

  test('a folder in which every user can replace files', async () => {
    const { folder, file } = place()
    chmodSync(folder, 0o777)
    await refused(file, `${folder} (mode 0777)`)
    expect(existsSync(file)).toBe(false)
  })

  test.skipIf(!isRoot)(`a folder of another user${asRoot}`, async () => {
    const { folder, file } = place()
    chownSync(folder, STRANGER, STRANGER)
    await refused(file, `uid ${STRANGER}`)
  })

  // Runs in a child process: if it waits, it is killed at the end of the test.
  test.each(['', '.lock'])('a FIFO as FILE%s does not block the start', async (suffix) => {
    const { file } = place()
    execFileSync('mkfifo', ['-m', '600', file + suffix])
    const { code, stderr } = await runCli(['dev', '--port', '0', '--db', file], devEnv())
    expect({ code, isNamed: stderr.includes(`${file + suffix} is a FIFO`) }).toEqual({ code: 1, isNamed: true })
  })
})

test('the lock and the journal are in one folder even if a link to it is replaced meanwhile', async () => {
  const folder = scratch()
  const [own, other, link] = ['own', 'other', 'link'].map((name) => join(folder, name)) as [string, string, string]
  for (const one of [own, other]) mkdirSync(one)
  symlinkSync(own, link)
  const { realpathSync } = system
  const restore = replaceCalls({
    realpathSync: (path: string) => {
      restore()
      const real = realpathSync(path)
      rmSync(link)
      symlinkSync(other, link)
      return real
    },
  })
  onTestFinished(restore)
  await started({ dbFile: join(link, 'db') })
  expect([readdirSync(own).toSorted(), readdirSync(other)]).toEqual([['db', 'db.lock'], []])
})

describe("the journal's temporary file", () => {
  function rewriting(file: string): { store: Store; problems: string[]; rewrite: () => void } {
    const problems: string[] = []
    const store = new Store({
      maxEntries: 10,
      maxBytes: 1 << 26,
      compactSlackBytes: 1_000,
      file: resolveStoreFile(file),
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
    rewrite()
    expect(readFileSync(victim, 'utf8')).toBe(PRIVATE)
    expect(lstatSync(file).isFile()).toBe(true)
    expect(lstatSync(file).size).toBeLessThan(10_000)
    expect(problems).toEqual([])
    expect(store.recordCounts().entry).toBe(10)
  })

  test('is checked again before the rename: nothing is written to a file that replaced it', () => {
    const { file, folder } = place()
    const link = join(scratch(), 'link')
    symlinkSync(folder, link)
    const { problems, rewrite } = rewriting(join(link, 'db'))
    const other = join(folder, 'other')
    writeFileSync(other, '')
    const { renameSync } = system
    const restore = replaceCalls({
      renameSync: (from: string, to: string) => {
        restore() // once: the journal is rewritten several times
        renameSync(other, from)
        renameSync(from, to)
      },
    })
    onTestFinished(restore)
    rewrite()
    expect(problems).toEqual([expect.stringContaining(join(link, 'db'))]) // as the user wrote it
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
