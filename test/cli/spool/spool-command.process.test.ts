/** `pino-ingest spool` with folders of real applications, killed while the service was down. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { claimInstance } from '../../../src/cli/spool/select-entries.js'
import { systemClock } from '../../../src/shared/clock.js'
import type { IngestService } from '../../../src/service/index.js'
import { summarizeUnsettled, inspectRoot } from '../../../src/spool/inspect.js'
import type { FoundInstance } from '../../../src/spool/inspect.js'
import { InstanceFolder } from '../../../src/spool/instance/instance-folder.js'
import { readMachine } from '../../../src/spool/instance/ownership.js'
import { nameDestination } from '../../../src/spool/spool-root.js'
import { startApp } from '../../process/run-app.js'
import type { AppPlan, RunningApp } from '../../process/run-app.js'
import { httpServer } from '../../client/http-servers.js'
import { started } from '../../service/support.js'
import { runCli, startCli } from '../run-cli.js'

const KEY = 'spool-key-5f0e77a1'
const OTHER_KEY = 'spool-other-key-90d1'
const DOWN = 'http://127.0.0.1:1/api/v1'
const TIMEOUT = { timeout: 60_000 }

function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'pino-ingest-cli-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

function instancesIn(root: string): FoundInstance[] {
  return inspectRoot(root, { machine: readMachine(), wallNowMs: Date.now() }).flatMap(({ instances }) => instances)
}

async function entriesIn(root: string): Promise<number> {
  let entries = 0
  try {
    for (const one of instancesIn(root)) entries += (await summarizeUnsettled(one)).entries
  } catch {
    return 0 // the folder does not exist yet
  }
  return entries
}

/** A running application. Resolves when everything that it logged is on disk. */
async function holding(
  root: string,
  count: number,
  { key = KEY, raw }: { key?: string; raw?: string } = {},
): Promise<RunningApp> {
  const before = await entriesIn(root)
  const plan: AppPlan = {
    mode: 'target',
    options: { url: DOWN, apiKey: key, service: 'checkout', logTo: 'silent' },
    count,
    end: 'hold',
    ...(raw !== undefined && { raw }),
  }
  const app = startApp(plan, { PINO_INGEST_SPOOL_DIR: root })
  onTestFinished(() => void app.child.kill('SIGKILL'))
  for (let waited = 0; (await entriesIn(root)) < before + count; waited += 20) {
    if (waited > 20_000) throw new Error('the entries are not on disk')
    await sleep(20)
  }
  return app
}

/** Runs an application that is killed with this number of entries on disk. */
async function killed(root: string, count: number, options: { key?: string; raw?: string } = {}): Promise<void> {
  const app = await holding(root, count, options)
  app.child.kill('SIGKILL')
  await app.done
}

interface Listed {
  readonly destinations: readonly {
    readonly name: string
    readonly isPresent: boolean
    readonly instances: readonly {
      readonly name: string
      readonly state: string
      readonly isFree: boolean
      readonly pid: number
      readonly entries: number
      readonly batches: number
      readonly damagedBytes: number
      readonly missingEntries: number
      readonly problems: readonly string[]
    }[]
    readonly deadLetters: {
      readonly entries: number
      readonly damagedLines: number
      readonly reasons: readonly { readonly reason: string; readonly count: number }[]
    }
  }[]
  readonly total: { readonly instances: number; readonly entries: number; readonly deadLetters: number }
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command and checks that its output contains no key. */
async function spool(root: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { code, stdout, stderr } = await runCli(['spool', ...args], {
    PINO_INGEST_SPOOL_DIR: root,
    PINO_INGEST_URL: DOWN,
    PINO_INGEST_API_KEY: KEY,
    ...env,
  })
  const out = stdout.toString()
  for (const key of [KEY, OTHER_KEY]) expect(out + stderr).not.toContain(key)
  return { code, out, err: stderr }
}

/** @returns variables of a process in which calls of `node:fs` in this root fail */
function failingIn(root: string, calls: readonly string[], code: string): Record<string, string> {
  const script = join(newRoot(), 'failing.cjs')
  writeFileSync(
    script,
    `const fs = require('node:fs')
    for (const call of ${JSON.stringify(calls)}) {
      const real = fs[call]
      fs[call] = (path, ...others) => {
        if (!String(path).startsWith(${JSON.stringify(`${root}/`)})) return real(path, ...others)
        throw Object.assign(new Error('${code}: injected error'), { code: '${code}' })
      }
    }
    require('node:module').syncBuiltinESMExports()`,
  )
  return { NODE_OPTIONS: `--require=${script}` }
}

async function listed(root: string): Promise<Listed> {
  return JSON.parse((await spool(root, ['ls', '--json'])).out) as Listed
}

function to(service: IngestService, key = KEY): Record<string, string> {
  return { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: key }
}

function numbersAt(service: IngestService): number[] {
  return service
    .entries({ limit: Infinity })
    .items.map(({ entry }) => entry.metadata?.['n'] as number)
    .toSorted((a, b) => a - b)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

/** A snapshot of all files below the folder, for comparisons. */
function treeOf(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => {
      const { size, mtimeMs, ino } = statSync(join(folder, name))
      return `${name} ${size} ${mtimeMs} ${ino}`
    })
    .toSorted()
}

describe('ls', () => {
  test('lists destinations and instances without changing the disk', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 250)
    await killed(root, 30, { key: OTHER_KEY })
    const before = treeOf(root)
    const { code, out } = await spool(root, ['ls'])
    expect(treeOf(root)).toEqual(before)
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(
        `^${DOWN} {2}service checkout {2}ID ${nameDestination(DOWN, KEY)} {2}the current destination\\n {2}\\S+ +killed +pid \\d+ +1 segment +[\\d.]+ KiB +3 batches +250 entries +oldest \\d+ s$`,
        'm',
      ),
    )
    expect(out).toMatch(new RegExp(`^${DOWN} .*ID ${nameDestination(DOWN, OTHER_KEY)}\\n.* 30 entries`, 'm'))
    expect(out).toMatch(/^Total: 2 instances, [\d.]+ KiB, 280 entries waiting, 0 dead letters$/m)
    expect((await spool(root, ['ls'], { PINO_INGEST_URL: 'nonsense' })).out).toContain('280 entries')
    for (const [args, env] of [
      [['--dir', root], { PINO_INGEST_SPOOL_DIR: '/nonexistent' }],
      [[], { PINO_INGEST_SPOOL_DIR: '', PINO_INGEST_SPOOL: root }],
      [[], { PINO_INGEST_SPOOL_DIR: '', PINO_INGEST_SPOOL: JSON.stringify({ dir: root }) }],
    ] as const) {
      const { stdout } = await runCli(['spool', 'ls', '--json', ...args], env)
      expect((JSON.parse(stdout.toString()) as Listed).total.entries).toBe(280)
    }
  })

  test('running instances, their claimed folders, and suspended instances', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 20)
    const app = await holding(root, 10)
    const [live, claimed] = instancesIn(root)
    expect([live?.state, live?.pid, live?.isFree]).toEqual(['running', app.child.pid, false])
    expect([claimed?.state, claimed?.claimedBy, claimed?.isFree]).toEqual(['claimed', live?.name, false])
    expect((await spool(root, ['ls'])).out).toMatch(
      new RegExp(`running +pid ${app.child.pid}, lease \\d+ s old.*\\n.*claimed +by ${live?.name}`),
    )
    app.child.kill('SIGSTOP')
    const old = Date.now() / 1000 - 120
    utimesSync(join(live?.path ?? '', 'owner'), old, old)
    const stopped = await spool(root, ['ls'])
    expect(stopped.out).toMatch(/lease 2 min old|lease 1\d\d s old/)
    // A suspended process still owns its folder.
    expect(instancesIn(root).map(({ isFree }) => isFree)).toEqual([false, false])
  })

  test('reports damage, and lists everything else', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 120)
    const [instance] = instancesIn(root)
    const segment = instance?.segments[0]?.path ?? ''
    const bytes = readFileSync(segment)
    bytes[16 + 40] = (bytes[16 + 40] as number) ^ 0x55
    writeFileSync(segment, bytes)
    writeFileSync(join(instance?.path ?? '', '00000007.seg'), 'no segment at all')
    symlinkSync('/etc/passwd', join(instance?.path ?? '', '00000008.seg'))
    mkdirSync(join(root, 'not-ours'))
    writeFileSync(join(root, 'ffffffffffffffff'), 'a file where a folder should be')
    const {
      destinations: [destination],
    } = await listed(root)
    const found = destination?.instances[0]
    expect(found?.damagedBytes).toBeGreaterThan(17)
    expect(found?.missingEntries).toBeGreaterThan(0)
    expect((found?.entries ?? 0) + (found?.missingEntries ?? 0)).toBe(120)
    const { code, out } = await spool(root, ['ls'])
    expect(code).toBe(0)
    expect(out).toMatch(/damaged: [\d,]+ bytes outside of frames\n +damaged: \d+ entr(?:y|ies) missing/)
    expect(out).not.toContain('root:')
  })

  test('lists folders of another version without reading them', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 5)
    const segment = instancesIn(root)[0]?.segments[0]?.path ?? ''
    const bytes = readFileSync(segment)
    bytes[7] = 9
    writeFileSync(segment, bytes)
    expect((await spool(root, ['ls'])).out).toContain('written by another version')
    const service = await started({ apiKeys: [KEY] })
    const replayed = await spool(root, ['replay', '--all'], to(service))
    expect(replayed).toMatchObject({ code: 1, out: expect.stringContaining('another version') })
    expect(replayed.out).not.toContain('nothing to send')
    expect(service.arrived).toBe(0)
  })
})

describe('show', () => {
  test('an instance, a batch, and escaped control characters', TIMEOUT, async () => {
    const root = newRoot()
    const raw = join(root, 'raw.ndjson')
    const message = `red \u001b[31m \u202e \u0085 end ${KEY}`
    writeFileSync(
      raw,
      `{"level":50,"time":1769846400000,"msg":${JSON.stringify(message)},"big":12345678901234567890}\n{"level":30,"time":1769846400001,"msg":"second"}\n`,
    )
    await killed(root, 2, { raw })
    const [instance] = instancesIn(root)
    const shown = await spool(root, ['show', instance?.name.slice(0, 10) ?? ''])
    expect(shown.code).toBe(0)
    expect(shown.out).toMatch(/^ {2}2026-01-31T08:00:00\.000Z error red \\u001b\[31m \\u202e \\u0085 end \*\*\*$/m)
    const batchId = /batch (\S+) in/.exec(shown.out)?.[1] ?? ''
    expect((await spool(root, ['show', batchId])).out).toBe(shown.out)
    const json = await spool(root, ['show', batchId, '--json'])
    expect(json.out).not.toMatch(/[\u001b\u202e\u0085]/)
    expect(json.out).toContain('12345678901234567890')
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: string }).message),
    ).toEqual([message.replace(KEY, '***'), 'second'])
    const one = await spool(root, ['show', batchId, '--limit', '1'])
    expect(one.out).toContain('first 1 are shown; --limit N')
    expect(one.out).not.toContain('second')
  })

  test.each([
    [['show', 'zzzz'], 'zzzz was not found'],
    [['show', '9b2f8a52-8b9e-4b3c-9d50-2f7a1a0b7c11'], 'entries of batch 9b2f8a52'],
    [['purge', 'zzzz', '--yes'], 'zzzz was not found'],
    [['replay', '9b2f8a52-8b9e-4b3c-9d50-2f7a1a0b7c11'], 'pass its instance'],
  ])('%j is reported', async (args, message) => {
    const root = newRoot()
    const { code, err } = await spool(root, args)
    expect(err).toContain(message)
    expect(code).toBe(1)
  })

  test('an ambiguous prefix', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 1)
    await killed(root, 1, { key: OTHER_KEY })
    const [a] = instancesIn(root)
    const { code, err } = await spool(root, ['show', a?.name.slice(0, 2) ?? ''])
    expect(err).toContain('is a prefix of 2 names')
    expect(code).toBe(1)
  })
})

describe('replay', () => {
  test('sends an instance of another key once, under its batch ids, and no other instance', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 40)
    await killed(root, 250, { key: OTHER_KEY })
    const other = instancesIn(root).find(({ destination }) => destination === nameDestination(DOWN, OTHER_KEY))
    const service = await started({ apiKeys: [KEY] })
    expect(await spool(root, ['replay', other?.name ?? ''], to(service))).toMatchObject({
      code: 0,
      out: 'Sent 250 entries: 250 accepted, 0 rejected. Kept on disk: 0 entries.\n',
    })
    expect(numbersAt(service)).toEqual(upTo(250))
    expect((await listed(root)).total).toMatchObject({ instances: 1, entries: 40 })
    expect(await spool(root, ['replay', '--all', '--json'], to(service))).toMatchObject({ code: 0 })
    expect(service.arrived).toBe(290)
    expect((await listed(root)).total).toMatchObject({ instances: 0, entries: 0, bytes: 0 })
    expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({
      code: 0,
      out: 'There was nothing to send.\n',
    })
  })

  test(
    'a wrong key ends it within seconds, an outage after the timeout; all entries stay in place',
    TIMEOUT,
    async () => {
      const root = newRoot()
      await killed(root, 3_500) // more batches than the concurrency
      const service = await started({ apiKeys: [KEY] })
      const refused = await spool(root, ['replay', '--all'], to(service, 'a-wrong-key-000'))
      expect(refused).toMatchObject({
        code: 1,
        out: expect.stringContaining('0 accepted, 0 rejected. Kept on disk: 3,500 entries.\nLast failure: status 401'),
      })
      // Others show that not only the first batch is refused.
      expect(service.requests.length).toBeLessThan(7)
      expect(await spool(root, ['replay', '--all', '--timeout', '1'])).toMatchObject({
        code: 1,
        out: expect.stringContaining('Kept on disk: 3,500 entries'),
      })
      const { destinations } = await listed(root)
      expect(destinations.filter(({ instances }) => instances.length > 0).map(({ name }) => name)).toEqual([
        nameDestination(DOWN, KEY),
      ])
      expect(destinations.flatMap(({ instances }) => instances).every(({ isFree }) => isFree)).toBe(true)
      expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({ code: 0 })
      expect(numbersAt(service)).toEqual(upTo(3_500))
    },
  )

  test('skips instances of a running process', TIMEOUT, async () => {
    const root = newRoot()
    const app = await holding(root, 15)
    const [live] = instancesIn(root)
    const service = await started({ apiKeys: [KEY] })
    const held = expect.stringContaining(`held by a running process (pid ${app.child.pid})`)
    expect(await spool(root, ['replay', live?.name ?? ''], to(service))).toMatchObject({ code: 1, out: held })
    expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({ code: 0, out: held })
    expect(service.arrived).toBe(0)
    expect((await listed(root)).total.entries).toBe(15)
    // Checked again before the rename, although it was listed as free.
    const machine = readMachine()
    const folder = join(root, live?.destination ?? '')
    const owner = new InstanceFolder(folder, { clock: systemClock, machine, isPowerSafe: false })
    const found = { ...(live as FoundInstance), isFree: true }
    expect(() => claimInstance(owner, machine, found)).toThrow('is held by')
    owner.release()
    expect(instancesIn(root).map(({ name }) => name)).toEqual([live?.name])
  })

  test(
    'rejected entries become dead letters; a second rejection replaces the reason, an acceptance deletes them',
    TIMEOUT,
    async () => {
      const root = newRoot()
      await killed(root, 250)
      const service = await started({ apiKeys: [KEY] })
      service.faults.add({ kind: 'reject-containing', text: '"n":24' }) // 24, and 240 to 249
      expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({
        code: 1,
        out: expect.stringContaining('239 accepted, 11 rejected. Kept on disk: 0 entries.'),
      })
      expect((await listed(root)).total).toMatchObject({ entries: 0, deadLetters: 11 })
      const dead = await spool(root, ['show', 'dead'])
      expect(dead.out.match(/-> 422 VALIDATION_ERROR/g)).toHaveLength(11)
      const batchId = /batch (\S+), entry 24\)/.exec(dead.out)?.[1] ?? ''
      expect((await spool(root, ['show', batchId, '--json'])).out).toContain('"n":24}')

      service.faults.clear()
      service.faults.add({ kind: 'reject-containing', text: '"n":245}', form: 'framework' })
      expect(await spool(root, ['replay', 'dead', '--json'], to(service))).toMatchObject({
        code: 1,
        out: expect.stringContaining('"sent":11,"accepted":10,"rejected":1,"kept":0'),
      })
      const [letter, ...more] = (await spool(root, ['show', 'dead'])).out
        .split('\n')
        .filter((line) => line.includes('->'))
      expect(more).toEqual([])
      expect(letter).toContain('entry ')
      expect(letter).not.toContain('VALIDATION_ERROR')

      service.faults.clear()
      expect(await spool(root, ['replay', 'dead'], to(service))).toMatchObject({ code: 0 })
      expect(numbersAt(service)).toEqual(upTo(250))
      expect((await listed(root)).total).toMatchObject({ deadLetters: 0, bytes: 0 })
    },
  )

  describe('dead letters: a failing file is reported once, and the others are sent', () => {
    const LETTER =
      '{"at":"2026-01-31T08:00:00.000Z","reason":"r","entry":{"level":"info","message":"m","timestamp":"2026-01-31T08:00:00.000Z","metadata":{"n":0}}}\n'
    const BEYOND_LIMIT = 2 ** 28 + 1

    /** The second file follows by name. */
    function twoFiles(first = 'a'): { root: string; folder: string; file: string } {
      const root = newRoot()
      const folder = join(root, nameDestination(DOWN, KEY), 'dead')
      mkdirSync(folder, { recursive: true })
      for (const name of [first, 'b']) writeFileSync(join(folder, `${name}.ndjson`), LETTER)
      return { root, folder, file: join(folder, `${first}.ndjson`) }
    }

    async function expectReplayed(root: string, service: IngestService, file: string): Promise<void> {
      const { code, out } = await spool(root, ['replay', 'dead'], to(service))
      expect([code, numbersAt(service)]).toEqual([1, [0]])
      expect(out.split(file)).toHaveLength(2)
    }

    test('it cannot be read', TIMEOUT, async () => {
      const { root, folder, file } = twoFiles()
      truncateSync(file, BEYOND_LIMIT)
      await expectReplayed(root, await started({ apiKeys: [KEY] }), join(folder, 'a-r'))
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^a-r/)])
    })

    test('it cannot be read on the first attempt', TIMEOUT, async () => {
      const { root, folder, file } = twoFiles()
      truncateSync(file, BEYOND_LIMIT)
      const onRecords = (): void => {
        const renamed = readdirSync(folder).find((name) => name.startsWith('a-r')) ?? ''
        truncateSync(join(folder, renamed), LETTER.length)
      }
      await expectReplayed(root, await started({ apiKeys: [KEY], onRecords }), join(folder, 'a-r'))
      expect((await listed(root)).total.deadLetters).toBe(1)
    })

    test('it cannot be renamed', TIMEOUT, async () => {
      const { root, folder, file } = twoFiles('a'.repeat(240))
      await expectReplayed(root, await started({ apiKeys: [KEY] }), `'${file}'`)
      expect(readdirSync(folder)).toEqual([basename(file)])
    })
  })

  test('dead letters: damaged lines are kept, and nothing is lost while the service is down', TIMEOUT, async () => {
    const root = newRoot()
    const folder = join(root, nameDestination(DOWN, KEY), 'dead')
    mkdirSync(folder, { recursive: true })
    const entry = (n: number): string =>
      `{"level":"info","message":"m","timestamp":"2026-01-31T08:00:00.000Z","metadata":{"n":${n}}}`
    const line = (n: number): string =>
      `{"at":"2026-01-31T08:00:00.000Z","batch_id":"b","index":${n},"status":422,"code":"X","field":"a,\\"entry\\":","reason":"r","entry":${entry(n)}}\n`
    const file = join(folder, 'mk2x0c1p-9f3a1c000000-00000001.ndjson')
    writeFileSync(file, upTo(230).map(line).join(''))
    appendFileSync(file, '{"at":"half writt')
    expect((await listed(root)).destinations[0]?.deadLetters).toMatchObject({
      entries: 230,
      damagedLines: 1,
      reasons: [{ count: 230 }],
    })
    expect(await spool(root, ['replay', 'dead', '--timeout', '1'])).toMatchObject({
      code: 1,
      out: expect.stringContaining('Kept on disk: 231 entries'),
    })
    expect((await listed(root)).total.deadLetters).toBe(230)
    const service = await started({ apiKeys: [KEY] })
    expect(await spool(root, ['replay', 'dead'], to(service))).toMatchObject({
      code: 1,
      out: expect.stringContaining('230 accepted, 0 rejected. Kept on disk: 1 entry.'),
    })
    expect(numbersAt(service)).toEqual(upTo(230))
    expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['{"at":"half writt\n'])
  })

  test(
    'entries rejected without a name: all of a batch are stored, else it says how many are not',
    TIMEOUT,
    async () => {
      const root = newRoot()
      await killed(root, 50)
      let result = { accepted: 0, rejected: 50, errors: [] }
      const server = await httpServer((response) => void response.end(JSON.stringify(result)))
      const env = { PINO_INGEST_URL: `${server.origin}/api/v1` }
      expect(await spool(root, ['replay', '--all'], env)).toMatchObject({
        code: 1,
        out: expect.stringMatching(
          / 50 rejected\. Kept on disk: 0 entries\.\nRejected entries are stored with the reason/,
        ),
      })
      expect((await listed(root)).total).toMatchObject({ entries: 0, deadLetters: 50 })

      await killed(root, 50)
      result = { accepted: 47, rejected: 3, errors: [] }
      expect(await spool(root, ['replay', basename(instancesIn(root)[0]?.path ?? '')], env)).toMatchObject({
        code: 1,
        out: expect.stringMatching(/ 3 rejected\. Kept on disk: 0 entries\.\n3 .*not stored.*\n$/),
      })
      expect((await listed(root)).total).toMatchObject({ entries: 0, deadLetters: 50 })
      // Any of the dead letters may be one of the rejected entries.
      expect(await spool(root, ['replay', 'dead'], env)).toMatchObject({
        code: 1,
        out: expect.stringMatching(/ 3 rejected\. Kept on disk: 50 entries\.\n(?!.*not stored)/),
      })
    },
  )

  test('a gateway that rejects everything creates no dead letters; a single bad entry is found', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 250)
    const service = await started({ apiKeys: [KEY] })
    const undo = service.faults.add({ kind: 'status', status: 400 })
    // Each probe becomes a batch. The bad entry must not be one: alone, it can only be proven bad by batches that are left.
    const env = { ...to(service), NODE_OPTIONS: '--import=data:text/javascript,Math.random=()=>0' }
    expect(await spool(root, ['replay', '--all', '--timeout', '30'], env)).toMatchObject({
      code: 1,
      out: expect.stringContaining('0 accepted, 0 rejected. Kept on disk: 250 entries.'),
    })
    expect(service.requests.length).toBeLessThan(30)
    undo()
    service.faults.add({ kind: 'reject-containing', text: '"n":7}', form: 'nameless' })
    expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({
      code: 1,
      out: expect.stringContaining('249 accepted, 1 rejected. Kept on disk: 0 entries.'),
    })
    expect(numbersAt(service)).toEqual(upTo(250).filter((n) => n !== 7))
    expect((await spool(root, ['show', 'dead', '--json'])).out).toContain('"n":7}')
  })

  test.each([
    [['replay'], 'replay needs an ID'],
    [['replay', 'dead', '--all'], 'give either dead or --all'],
    [['replay', '--all', '--timeout', '0'], '--timeout must be an integer from 1'],
    [['purge', '--yes'], 'purge needs an ID'],
    [['purge', '--older-than', '7days'], '--older-than must be an age like 30m, 12h or 7d'],
    [['show'], 'needs an ID'],
    [['show', 'dead', '--limit', 'x'], '--limit must be an integer'],
    [['ls', 'this'], 'unexpected argument this'],
    [['list'], 'unknown command spool list'],
    [[], 'spool needs a command: ls, show, replay, purge'],
    [['ls', '--prot'], 'unknown flag --prot'],
  ])('%j is bad usage', async (args, message) => {
    const { code, err } = await spool('/nonexistent', args)
    expect(err).toContain(message)
    expect(code).toBe(2)
  })

  test('needs a URL', async () => {
    const result = await runCli(['spool', 'replay', '--all'], { PINO_INGEST_SPOOL_DIR: newRoot() })
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('PINO_INGEST_URL') })
  })
})

test.each(['renameSync', 'mkdirSync'])(
  'replay says how many entries wait if they cannot be claimed (%s), and why',
  TIMEOUT,
  async (call) => {
    const root = newRoot()
    await killed(root, 120)
    const { code, out } = await spool(root, ['replay', '--all'], failingIn(root, [call], 'EACCES'))
    expect(code).toBe(1)
    expect(out).toContain('EACCES')
    expect(out).toContain('Kept on disk: 120 entries')
    expect(out).not.toContain('nothing to send')
  },
)

test('on a full volume, purge deletes entries', TIMEOUT, async () => {
  const root = newRoot()
  await killed(root, 120)
  const full = failingIn(root, ['mkdirSync'], 'ENOSPC')
  expect(await spool(root, ['purge', '--all', '--yes'], full)).toMatchObject({ code: 0 })
  expect((await listed(root)).total).toMatchObject({ instances: 0, entries: 0, bytes: 0 })
})

describe('purge', () => {
  test('lists the targets, and deletes them with --yes', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 120)
    await killed(root, 30, { key: OTHER_KEY })
    const before = treeOf(root)
    const asked = await spool(root, ['purge', '--all'])
    expect(asked).toMatchObject({ code: 2, out: expect.stringContaining('Would delete:') })
    expect(asked.out).toContain('120 entries waiting')
    expect(asked.out).toContain('Nothing was deleted. Add --yes')
    expect(treeOf(root)).toEqual(before)
    const other = instancesIn(root).find(({ destination }) => destination === nameDestination(DOWN, OTHER_KEY))
    expect(await spool(root, ['purge', other?.name ?? '', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Deleted 1 instance with 30 entries waiting'),
    })
    expect((await listed(root)).total).toMatchObject({ instances: 1, entries: 120 })
    expect(JSON.parse((await spool(root, ['purge', '--all', '--yes', '--json'])).out)).toMatchObject({
      isConfirmed: true,
      deleted: [{ entries: 120 }],
      kept: [],
    })
    expect((await listed(root)).total).toMatchObject({ instances: 0, bytes: 0 })
    expect(await spool(root, ['purge', '--all', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to delete'),
    })
  })

  test('never deletes instances that a running process owns or has claimed', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 20)
    const app = await holding(root, 10)
    const [live, claimed] = instancesIn(root)
    const tried: [string[], number][] = [
      [['--all'], 0],
      [['--older-than', '1s'], 0],
      [[live?.name ?? ''], 1],
      [[claimed?.name ?? ''], 1],
    ]
    for (const [args, code] of tried) {
      expect(await spool(root, ['purge', ...args, '--yes'])).toMatchObject({
        code,
        out: expect.stringContaining(': it is held by'),
      })
    }
    expect(await entriesIn(root)).toBe(30)
    app.child.kill('SIGKILL')
    await app.done
    expect(await spool(root, ['purge', '--all', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 instance with 30 entries'),
    })
  })

  test('by age, and only dead letters', TIMEOUT, async () => {
    const root = newRoot()
    await killed(root, 10)
    const [instance] = instancesIn(root)
    const folder = join(root, instance?.destination ?? '')
    cpSync(instance?.path ?? '', join(folder, '00000000-000000000000.left'), { recursive: true })
    const old = Date.now() / 1000 - 8 * 86_400
    utimesSync(join(folder, '00000000-000000000000.left', '00000001.seg'), old, old)
    mkdirSync(join(folder, 'dead'))
    writeFileSync(join(folder, 'dead', 'x-00000001.ndjson'), 'x\n')
    expect(await spool(root, ['purge', '--older-than', '7d', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Deleted 1 instance with 10 entries'),
    })
    expect(await spool(root, ['purge', 'dead', '--older-than', '7d', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to delete'),
    })
    expect(await spool(root, ['purge', 'dead', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 file of dead letters'),
    })
    expect(instancesIn(root).map(({ name }) => name)).toEqual([instance?.name])
  })
})

describe('an invalid root', () => {
  test.each(['ls', 'show dead', 'replay --all', 'purge --all --yes'])('%s', async (args) => {
    const root = newRoot()
    const words = args.split(' ')
    const missing = await spool(join(root, 'missing'), words)
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('missing does not exist') })
    writeFileSync(join(root, 'file'), '')
    expect(await spool(join(root, 'file'), words)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not a folder'),
    })
    mkdirSync(join(root, 'real'))
    symlinkSync(join(root, 'real'), join(root, 'link'))
    expect(await spool(join(root, 'link'), words)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is a symbolic link'),
    })
    expect(readdirSync(join(root, 'real'))).toEqual([])
    const json = await spool(join(root, 'missing'), [...words, '--json'])
    expect(JSON.parse(json.err)).toEqual({
      error: { code: 'SPOOL', message: expect.stringContaining('missing does not exist') },
    })
  })
})

test('a killed replay leaves unacknowledged entries for the next one', TIMEOUT, async () => {
  const root = newRoot()
  await killed(root, 300)
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'delay', delayMs: 0, times: 1 })
  const undo = service.faults.add({ kind: 'hang' })
  const replay = startCli(['spool', 'replay', '--all'], { PINO_INGEST_SPOOL_DIR: root, ...to(service) })
  while (service.requests.length < 3) await sleep(10)
  replay.child.kill('SIGKILL')
  await replay.done
  undo()
  const { total, destinations } = await listed(root)
  expect(total.entries).toBe(200)
  // In the killed command's own folder.
  expect(destinations[0]?.instances.map(({ state, batches, isFree }) => [state, batches, isFree])).toEqual([
    ['killed', 0, true],
    ['claimed', 2, true],
  ])
  expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({
    code: 0,
    out: expect.stringContaining('Sent 200 entries: 200 accepted'),
  })
  expect(numbersAt(service)).toEqual(upTo(300))
  expect((await listed(root)).total).toMatchObject({ instances: 0, bytes: 0 })
})

test('Ctrl-C ends a replay that waits for a Retry-After', { timeout: 60_000 }, async () => {
  const root = newRoot()
  await killed(root, 30)
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'status', status: 503, retryAfter: 50 })
  const replay = startCli(['spool', 'replay', '--all', '--timeout', '300'], {
    PINO_INGEST_SPOOL_DIR: root,
    ...to(service),
  })
  while (service.requests.length === 0) await sleep(10)
  replay.child.kill('SIGINT')
  const { code, stdout } = await replay.done
  expect(stdout.toString()).toContain('Kept on disk: 30 entries.')
  expect(code).toBe(1)
  expect(service.requests.length).toBe(1)
  expect((await listed(root)).total.entries).toBe(30)
})
