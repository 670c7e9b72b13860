/** What `send` records of a file, and what it makes of the record of an earlier run. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openFile } from '../../src/cli/send/file.js'
import { StateFolder, defaultStateDir } from '../../src/cli/send/folder.js'
import type { StateFolderOptions } from '../../src/cli/send/folder.js'
import { Journal } from '../../src/cli/send/journal.js'
import { Lock } from '../../src/cli/send/lock.js'
import type { Origin } from '../../src/cli/send/snapshot.js'
import { writeOwner } from '../../src/spool/instance/ownership.js'
import type { Machine } from '../../src/spool/instance/ownership.js'
import { FakeClock } from '../fake-clock.js'

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-send-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const origin: Origin = {
  path: '/logs/app.log',
  dev: '1',
  ino: '2',
  head: { bytes: 3, sha256: 'abc' },
  destination: 'd',
  options: 'o',
  namespace: '6ba7b810-9dad-51d1-80b4-00c04fd430c8',
  run: 0,
}

function slice(start: number, end: number, more: object = {}): Parameters<Journal['settle']>[0] {
  return { start, end, accepted: 2, rejected: 1, filtered: 3, ...more }
}

describe('a journal', () => {
  test('knows after a kill what was settled before it', () => {
    const path = join(newDir(), 'j.ndjson')
    const journal = Journal.create(path, origin)
    journal.opened(100)
    journal.settle(slice(0, 10))
    journal.settle(slice(20, 30))
    // No close: it was killed.
    const loaded = Journal.load(path)
    expect(loaded?.origin).toEqual(origin)
    expect(loaded?.settled.list).toEqual([
      [0, 10],
      [20, 30],
    ])
    expect(loaded).toMatchObject({
      resumeAt: 10,
      size: 100,
      done: undefined,
      counts: { accepted: 4, rejected: 2, filtered: 6 },
    })
    loaded?.settle(slice(10, 20))
    loaded?.finish({ at: '2026-01-01T00:00:00.000Z', size: 100 })
    loaded?.close()
    const again = Journal.load(path)
    expect(again).toMatchObject({
      resumeAt: 30,
      done: { at: '2026-01-01T00:00:00.000Z', size: 100 },
      counts: { accepted: 6, rejected: 3, filtered: 9 },
    })
    again?.opened(120)
    expect(Journal.load(path)).toMatchObject({ done: undefined, size: 120 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('reads an open last line again, and only where it is the last', () => {
    const path = join(newDir(), 'j.ndjson')
    const journal = Journal.create(path, origin)
    journal.settle(slice(0, 10, { openFrom: 7 }))
    expect(Journal.load(path)?.resumeAt).toBe(7)
    journal.finish({ at: '', size: 10 })
    expect(Journal.load(path)?.resumeAt).toBe(7)
    journal.settle(slice(7, 20))
    expect(journal.resumeAt).toBe(20)
    expect(Journal.load(path)?.resumeAt).toBe(20)
  })

  test('does not grow without end', () => {
    const path = join(newDir(), 'j.ndjson')
    const journal = Journal.create(path, origin)
    for (let at = 0; at < 10_000; at += 1) journal.settle(slice(at, at + 1))
    expect(statSync(path).size).toBeLessThan(120_000)
    expect(Journal.load(path)).toMatchObject({ resumeAt: 10_000, counts: { accepted: 20_000 } })
  })

  test('a line that a power failure left half written costs that line', () => {
    const path = join(newDir(), 'j.ndjson')
    const journal = Journal.create(path, origin)
    journal.settle(slice(0, 10))
    appendFileSync(path, '[10,2')
    const loaded = Journal.load(path)
    expect(loaded?.resumeAt).toBe(10)
    loaded?.settle(slice(10, 15))
    expect(Journal.load(path)?.resumeAt).toBe(15)
  })

  test('in a folder of several users: nothing planted beside it is written, and what a killed process left there goes', () => {
    const dir = newDir()
    chmodSync(dir, 0o1777)
    const path = join(dir, 'j.ndjson')
    const notes = join(dir, 'notes')
    writeFileSync(notes, 'private')
    linkSync(notes, `${path}.new`)
    writeFileSync(`${path}.0123456789abcdef.tmp`, 'half')
    Journal.create(path, origin).close()
    Journal.load(path)?.close()
    expect(readFileSync(notes, 'utf8')).toBe('private')
    expect(readdirSync(dir).toSorted()).toEqual(['j.ndjson', 'j.ndjson.new', 'notes'])
  })

  test('one that others can write, or of more than 64 MiB, is not read', () => {
    const path = join(newDir(), 'j.ndjson')
    Journal.create(path, origin).close()
    truncateSync(path, 4 * 1024 ** 3)
    expect(() => Journal.load(path)).toThrow(`${path} is damaged`)
    chmodSync(path, 0o666)
    expect(() => Journal.load(path)).toThrow('mode 0666')
  })

  test.each(['', 'text\n', '{}\n', '[1,2]\n', '{"version":1}\n'])('%j is none', (content) => {
    const path = join(newDir(), 'j.ndjson')
    writeFileSync(path, content)
    expect(() => Journal.load(path)).toThrow(`${path} is damaged`)
  })

  test.each(['text\n', '[1,2]\n', '{"opened":"x"}\n', '[1,2,3,4,"5"]\n', 'null\n'])('a line %j is damage', (line) => {
    const path = join(newDir(), 'j.ndjson')
    Journal.create(path, origin)
    appendFileSync(path, line)
    expect(() => Journal.load(path)).toThrow(`${path} is damaged`)
  })

  test('that of another version is left alone', () => {
    const path = join(newDir(), 'j.ndjson')
    writeFileSync(path, '{"version":2}\n')
    expect(() => Journal.load(path)).toThrow('written by another version of pino-ingest (format 2)')
  })

  test('there may be none', () => expect(Journal.load(join(newDir(), 'j.ndjson'))).toBeUndefined())
})

const clock = new FakeClock(Date.now())
let lastPid = 1_000
/** Of processes that live on one machine. */
const living = new Map<number, string>()

function process(): Machine {
  const pid = lastPid++
  living.set(pid, `start-${pid}`)
  return {
    self: { pid, thread: 0, host: 'h', boot: 'b', namespace: 'n', start: `start-${pid}` },
    findStartTime: (other) => living.get(other),
    uptimeMs: () => Infinity,
  }
}

describe('a lock', () => {
  test('holds while its process lives, and is taken over from one that was killed', () => {
    const path = join(newDir(), 'l')
    const first = process()
    const lock = Lock.take(path, first, clock)
    expect(lock).toBeDefined()
    expect(Lock.take(path, process(), clock)).toBeUndefined()
    living.delete(first.self.pid)
    const second = Lock.take(path, process(), clock)
    expect(second).toBeDefined()
    expect(Lock.take(path, process(), clock)).toBeUndefined()
    second?.release()
    expect(existsSync(path)).toBe(false)
    Lock.take(path, process(), clock)?.release()
  })

  test("another machine's lock is free when its lease has expired by the file system's clock", () => {
    const path = join(newDir(), 'l')
    mkdirSync(path)
    const elsewhere = { pid: 1, thread: 0, host: 'other', boot: 'other', namespace: 'n', start: '1' }
    writeOwner(path, elsewhere)
    const fast = new FakeClock(Date.now() + 7_200_000)
    expect(Lock.take(path, process(), fast)).toBeUndefined()
    const renewedAt = Date.now() / 1000 - 31
    utimesSync(join(path, 'owner'), renewedAt, renewedAt)
    expect(Lock.take(path, process(), fast)).toBeDefined()
  })

  test("is renewed by the file system's clock, not by this machine's clock", async () => {
    const path = join(newDir(), 'l')
    const own = new FakeClock(Date.now() + 500_000)
    const lock = Lock.take(path, process(), own)
    utimesSync(join(path, 'owner'), 1, 1)
    await own.advance(6_000)
    expect(Math.abs(statSync(join(path, 'owner')).mtimeMs - Date.now())).toBeLessThan(60_000)
    lock?.release()
    expect(own.timers).toBe(0)
  })
})

describe('a folder of journals', () => {
  interface Opened {
    readonly from: number
    readonly note: string | undefined
    readonly run: number | undefined
    readonly namespace: string | undefined
  }

  /** Opens the file as the next run would, and settles all of it, where not told otherwise. */
  async function pass(
    dir: string,
    path: string,
    more: Partial<StateFolderOptions> = {},
    settles = true,
  ): Promise<Opened> {
    const states = new StateFolder({
      dir,
      destination: 'dest',
      previous: [],
      options: 'opt',
      machine: process(),
      clock,
      isRestart: false,
      ...more,
    })
    const file = await openFile(path)
    try {
      const { journal, note, close } = await states.open(file)
      const from = journal.resumeAt
      journal.opened(file.size)
      if (settles) {
        journal.settle(slice(from, file.size))
        journal.finish({ at: '', size: file.size })
      }
      close()
      return { from, note, run: journal.origin.run, namespace: journal.origin.namespace }
    } finally {
      await file.handle.close()
    }
  }

  function newFile(content: string): { dir: string; path: string } {
    const dir = newDir()
    const path = join(dir, 'app.log')
    writeFileSync(path, content)
    return { dir: join(dir, 'state'), path }
  }

  test('a file that has grown, was renamed, or is reached by a link goes on', async () => {
    const { dir, path } = newFile('one\n')
    const first = await pass(dir, path)
    expect(first).toMatchObject({ from: 0, note: undefined, run: 0 })
    appendFileSync(path, 'two\n')
    expect(await pass(dir, path)).toEqual({ ...first, from: 4 })
    renameSync(path, `${path}.1`)
    expect(await pass(dir, `${path}.1`)).toEqual({ ...first, from: 8 })
    expect(statSync(dir).mode & 0o777).toBe(0o700)
  })

  test('a file that was replaced is begun anew, and that is told', async () => {
    const { dir, path } = newFile('one\n')
    await pass(dir, path)
    renameSync(path, `${path}.1`)
    writeFileSync(path, 'three\n')
    const { from, note, run } = await pass(dir, path)
    expect({ from, run }).toEqual({ from: 0, run: 0 })
    expect(note).toContain('is another file than the one of this name that was sent before')
  })

  test('one that was emptied and written again, in place, is begun anew under other ids', async () => {
    const { dir, path } = newFile('one\n')
    const { namespace } = await pass(dir, path)
    writeFileSync(path, 'other, and longer\n')
    const second = await pass(dir, path)
    expect(second).toMatchObject({
      from: 0,
      run: 1,
      note: `${path} has another beginning than when it was last sent: it is sent from its beginning`,
    })
    expect(second.namespace).not.toBe(namespace)
    truncateSync(path, 0)
    expect((await pass(dir, path)).note).toContain('has another beginning')
  })

  test('one that was shortened is begun anew', async () => {
    const { dir, path } = newFile(`${'x'.repeat(20_000)}\n`)
    await pass(dir, path)
    truncateSync(path, 18_000)
    expect((await pass(dir, path)).note).toContain('is shorter than when it was last sent')
  })

  test('other options or another destination: sent as one of which nothing is known', async () => {
    const { dir, path } = newFile('one\n')
    const { namespace } = await pass(dir, path)
    const other = await pass(dir, path, { options: 'other' })
    expect(other).toMatchObject({
      from: 0,
      note: `${path} was sent before, with other options for its entries: it is sent again, with these`,
    })
    const elsewhere = await pass(dir, path, { destination: 'elsewhere' })
    expect(elsewhere).toMatchObject({ from: 0, note: undefined })
    expect(new Set([namespace, other.namespace, elsewhere.namespace]).size).toBe(3)
    expect(await pass(dir, path)).toMatchObject({ from: 4, note: undefined })
  })

  test('a key that was replaced: what was sent under the one before counts', async () => {
    const { dir, path } = newFile('one\n')
    const { namespace } = await pass(dir, path, { destination: 'old' })
    expect(await pass(dir, path, { destination: 'new', previous: ['older', 'old'] })).toMatchObject({
      from: 4,
      namespace,
    })
  })

  test('--restart: all again, under other ids, and what was rejected is judged anew', async () => {
    const { dir, path } = newFile('one\n')
    const { namespace } = await pass(dir, path)
    const rejected = join(dir, (readdirSync(dir)[0] ?? '').replace('.ndjson', '.rejected.ndjson'))
    writeFileSync(rejected, 'letters')
    const second = await pass(dir, path, { isRestart: true })
    expect(second).toMatchObject({ from: 0, run: 1, note: undefined })
    expect(second.namespace).not.toBe(namespace)
    expect(existsSync(rejected)).toBe(false)
  })

  test('a damaged journal ends it, but for --restart', async () => {
    const { dir, path } = newFile('one\n')
    await pass(dir, path)
    writeFileSync(join(dir, readdirSync(dir)[0] ?? ''), 'x\n')
    await expect(pass(dir, path)).rejects.toThrow(
      /^what was sent of .* is not known: .* is damaged; --restart sends all of it$/,
    )
    expect(readdirSync(dir).filter((name) => name.includes('.lock'))).toEqual([])
    expect(await pass(dir, path, { isRestart: true })).toMatchObject({ from: 0 })
  })

  test('a file that is being sent is left to whoever sends it', async () => {
    const { dir, path } = newFile('one\n')
    const states = new StateFolder({
      dir,
      destination: 'dest',
      previous: [],
      options: 'opt',
      machine: process(),
      clock,
      isRestart: false,
    })
    const file = await openFile(path)
    const state = await states.open(file)
    await expect(pass(dir, path)).rejects.toThrow('is being sent by another process')
    state.close()
    await file.handle.close()
    expect(await pass(dir, path)).toMatchObject({ from: 0 })
  })

  test('where nothing can be written, it says how to name another', () => {
    const { path } = newFile('one\n')
    expect(
      () =>
        new StateFolder({
          dir: join(path, 'below'),
          destination: '',
          previous: [],
          options: '',
          machine: process(),
          clock,
          isRestart: false,
        }),
    ).toThrow(/name another folder with --state DIR$/)
  })

  test('the default is where the system wants it', () => {
    expect(defaultStateDir({ XDG_STATE_HOME: '/state' })).toBe('/state/pino-ingest/send')
    expect(defaultStateDir({ XDG_STATE_HOME: '' })).toMatch(/\.local\/state\/pino-ingest\/send$/)
  })
})

describe('a file', () => {
  test.each([
    ['a folder', (path: string) => mkdirSync(path), /is a folder; name the files in it, as .*\/\*\.log$/],
    ['nothing', () => {}, /cannot be read: there is no such file$/],
    [
      'zstd',
      (path: string) => writeFileSync(path, Buffer.from('28b52ffd00', 'hex')),
      /is zstd, and only plain text in UTF-8 and gzip are read: zstd -dc .* \| pino-ingest send -$/,
    ],
    [
      'UTF-16',
      (path: string) => writeFileSync(path, Buffer.from('\ufeffone\n', 'utf16le')),
      /is UTF-16, .*iconv -f UTF-16 -t UTF-8/,
    ],
  ])('%s is refused, with what to do', async (_name, make, message) => {
    const path = join(newDir(), 'app.log')
    make(path)
    await expect(openFile(path)).rejects.toThrow(message)
  })

  test('is known by its first bytes, whatever comes after', async () => {
    const path = join(newDir(), 'app.log')
    writeFileSync(path, 'x'.repeat(20_000))
    const before = await openFile(path)
    appendFileSync(path, 'more')
    const after = await openFile(path)
    expect(after.identity).toEqual(before.identity)
    expect(after.identity.head.bytes).toBe(16_384)
    expect([before.size, after.size]).toEqual([20_000, 20_004])
    await Promise.all([before.handle.close(), after.handle.close()])
    expect(readFileSync(path).length).toBe(20_004)
  })
})
