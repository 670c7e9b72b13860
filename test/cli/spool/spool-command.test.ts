/** `pino-ingest spool` lists, shows, sends and deletes what closed, killed and running processes have on disk. */
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { claimInstance } from '../../../src/cli/spool/select-entries.js'
import { systemClock } from '../../../src/shared/clock.js'
import type { FoundInstance } from '../../../src/spool/inspect.js'
import { InstanceFolder } from '../../../src/spool/instance/instance-folder.js'
import { readMachine } from '../../../src/spool/instance/ownership.js'
import { nameDestination } from '../../../src/spool/spool-root.js'
import { httpServer } from '../../client/http-servers.js'
import { entryOf, started, until } from '../../service/support.js'
import { failing } from '../../spool/disk-faults.js'
import { runInProcess, startInProcess } from '../run-in-process.js'
import {
  DOWN,
  KEY,
  OTHER_KEY,
  REQUESTS,
  entriesUpTo,
  instancesIn,
  leave,
  leaveDead,
  listed,
  logsUpTo,
  newRoot,
  numbersAt,
  spool,
  to,
  upTo,
} from './stored-spool.js'
import type { Listed } from './stored-spool.js'

/** A snapshot of all files below the folder, for comparisons. */
function treeOf(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => {
      const { size, mtimeMs, ino } = statSync(join(folder, name))
      return `${name} ${size} ${mtimeMs} ${ino}`
    })
    .toSorted()
}

/** A root with entries and request logs of the current destination. */
function both(): string {
  const root = newRoot()
  leave(root, entriesUpTo(130))
  leave(root, logsUpTo(250), { url: REQUESTS })
  return root
}

describe('ls', () => {
  test('lists destinations, instances and both kinds without changing the disk', async () => {
    const root = both()
    leave(root, entriesUpTo(30), { apiKey: OTHER_KEY, end: 'closed', service: 'worker \u001b[31m' })
    leave(root, logsUpTo(2), { url: 'http://127.0.0.1:2/api/v1/ingest/requests', apiKey: OTHER_KEY })
    const before = treeOf(root)
    const { code, out } = await spool(root, ['ls'])
    expect(treeOf(root)).toEqual(before)
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(
        `^${DOWN} {2}service checkout {2}ID ${nameDestination(DOWN, KEY)} {2}the current destination\\n {2}\\S+ +killed +pid \\d+ +1 segment +[\\d.]+ KiB +2 batches +130 entries +oldest \\d+ s$`,
        'm',
      ),
    )
    expect(out).toMatch(
      new RegExp(
        `^${REQUESTS} .*ID ${nameDestination(REQUESTS, KEY)} {2}the current destination, request logs\\n.* 3 batches +250 request logs`,
        'm',
      ),
    )
    const other = nameDestination(DOWN, OTHER_KEY)
    expect(out).toMatch(
      new RegExp(String.raw`^${DOWN}  service worker \\u001b\[31m  ID ${other}\n.* closed .* 30 entries`, 'm'),
    )
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:2\/.* ID \w+, request logs$/m)
    expect(out).toMatch(/^Total: 4 instances, [\d.]+ KiB, 160 entries and 252 request logs waiting, 0 dead letters$/m)
    rmSync(join(root, other, 'destination'))
    const { destinations, total } = await listed(root)
    expect(total).toMatchObject({ entries: 160, requestLogs: 252 })
    expect(destinations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ url: DOWN, service: 'checkout', kind: 'entries', isPresent: true }),
        expect.objectContaining({ url: REQUESTS, kind: 'requests', isPresent: true }),
        expect.objectContaining({ name: other, url: null, service: null, isPresent: false }),
      ]),
    )
  })

  test('finds the folder by flag and by each option, also if another option is invalid', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(3))
    for (const [args, env] of [
      [['--dir', root], { PINO_INGEST_SPOOL_DIR: '/nonexistent' }],
      [[], { PINO_INGEST_SPOOL_DIR: '', PINO_INGEST_SPOOL: root }],
      [[], { PINO_INGEST_SPOOL_DIR: '', PINO_INGEST_SPOOL: JSON.stringify({ dir: root }) }],
      [[], { PINO_INGEST_SPOOL_DIR: root, PINO_INGEST_URL: 'nonsense', PINO_INGEST_API_KEY: KEY }],
    ] as const) {
      const { out } = await runInProcess(['spool', 'ls', '--json', ...args], env)
      expect((JSON.parse(out) as Listed).total.entries).toBe(3)
    }
  })

  test('reports damage, folders of another version and strange files, and lists everything else', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(120))
    const [instance] = instancesIn(root)
    const segment = instance?.segments[0]?.path ?? ''
    const bytes = readFileSync(segment)
    bytes[16 + 40] = (bytes[16 + 40] as number) ^ 0x55
    writeFileSync(segment, bytes)
    writeFileSync(join(instance?.path ?? '', '00000007.seg'), 'no segment at all')
    symlinkSync('/etc/passwd', join(instance?.path ?? '', '00000008.seg'))
    mkdirSync(join(root, 'not-ours'))
    writeFileSync(join(root, 'ffffffffffffffff'), 'a file where a folder should be')
    const found = (await listed(root)).destinations[0]?.instances[0] as unknown as Record<string, number>
    expect(found['damagedBytes']).toBeGreaterThan(17)
    expect(found['missingEntries']).toBeGreaterThan(0)
    expect((found['entries'] ?? 0) + (found['missingEntries'] ?? 0)).toBe(120)
    const { code, out } = await spool(root, ['ls'])
    expect(code).toBe(0)
    expect(out).toMatch(/damaged: [\d,]+ bytes .*\n +damaged: \d+ entr(?:y|ies) missing/)
    expect(out).not.toContain('root:')

    bytes[7] = 9
    writeFileSync(segment, bytes)
    expect((await spool(root, ['ls'])).out).toContain('another version')
    const service = await started({ apiKeys: [KEY] })
    const replayed = await spool(root, ['replay', '--all'], to(service))
    expect(replayed).toMatchObject({ code: 1, out: expect.stringContaining('another version') })
    expect(replayed.out).not.toContain('nothing to send')
    expect(service.arrived).toBe(0)
  })
})

describe('show', () => {
  test('an instance, a batch, and escaped control characters', async () => {
    const root = newRoot()
    const message = `red \u001b[31m \u202e \u0085 end ${KEY}`
    const timestamp = '2026-01-31T08:00:00.000Z'
    leave(root, [entryOf({ level: 'error', message, metadata: { big: 2 ** 60 } }), entryOf({ message: 'second' })])
    const [instance] = instancesIn(root)
    const shown = await spool(root, ['show', instance?.name.slice(0, 10) ?? ''])
    expect(shown.code).toBe(0)
    expect(shown.out).toContain(`\n  ${timestamp} error red \\u001b[31m \\u202e \\u0085 end ***`)
    const batchId = /batch (\S+) in/.exec(shown.out)?.[1] ?? ''
    expect((await spool(root, ['show', batchId])).out).toBe(shown.out)
    const json = await spool(root, ['show', batchId, '--json'])
    expect(json.out).not.toMatch(/[\u001b\u202e\u0085]/)
    const lines = json.out.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      message.replace(KEY, '***'),
      'second',
    ])
    const one = await spool(root, ['show', batchId, '--limit', '1'])
    expect(one.out).toContain('--limit N')
    expect(one.out).not.toContain('second')
    const logs = await spool(both(), ['show', nameDestination(REQUESTS, KEY), '--limit', '1'])
    expect(logs).toMatchObject({ code: 0, out: expect.stringMatching(/ 200 +GET \/n\/0 1\.5 ms\n/) })
  })

  test('an ambiguous prefix is reported', async () => {
    const root = newRoot()
    for (const apiKey of [KEY, OTHER_KEY]) leave(root, entriesUpTo(1), { apiKey })
    const { code, err } = await spool(root, ['show', instancesIn(root)[0]?.name.slice(0, 2) ?? ''])
    expect([code, err]).toEqual([1, expect.stringContaining('prefix of 2 names')])
  })
})

describe('replay', () => {
  test('sends an instance of another key once, and no other instance; then all of both kinds', async () => {
    const root = both()
    leave(root, entriesUpTo(250), { apiKey: OTHER_KEY })
    const other = instancesIn(root).find(({ destination }) => destination === nameDestination(DOWN, OTHER_KEY))
    const service = await started({ apiKeys: [KEY] })
    expect(await spool(root, ['replay', other?.name ?? ''], to(service))).toEqual({
      code: 0,
      out: 'Sent 250 entries: 250 accepted, 0 rejected. Kept on disk: 0 entries.\n',
      err: '',
    })
    expect(numbersAt(service)).toEqual(upTo(250))
    expect((await listed(root)).total).toMatchObject({ instances: 2, entries: 130, requestLogs: 250 })
    const { code, out } = await spool(root, ['replay', '--all', '--json'], to(service))
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { sent: 380, requestLogs: { sent: 250, accepted: 250, kept: 0 } },
    ])
    expect([service.arrived, service.requestLogs({ limit: Infinity }).items.length]).toEqual([380, 250])
    expect(service.requests.map(({ endpoint }) => endpoint).toSorted()).toEqual([
      ...Array.from({ length: 5 }, () => 'ingest'),
      ...Array.from({ length: 3 }, () => 'requests'),
    ])
    expect((await listed(root)).total).toMatchObject({ instances: 0, entries: 0, bytes: 0 })
    expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({
      code: 0,
      out: 'There was nothing to send.\n',
    })
  })

  test('rejected entries become dead letters; a second rejection replaces the reason, an acceptance deletes them', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(250))
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
    const left = (await spool(root, ['show', 'dead'])).out
    expect(left.match(/->/g)).toHaveLength(1)
    expect(left).not.toContain('VALIDATION_ERROR')

    service.faults.clear()
    expect(await spool(root, ['replay', 'dead'], to(service))).toMatchObject({ code: 0 })
    expect(numbersAt(service)).toEqual(upTo(250))
    expect((await listed(root)).total).toMatchObject({ deadLetters: 0, bytes: 0 })
  })

  test('rejected request logs become dead letters, and are replayed to their own endpoint', async () => {
    const root = newRoot()
    leave(
      root,
      logsUpTo(20).map((log, n) => (n === 7 ? { ...log, path: 7 } : log)),
      { url: REQUESTS },
    )
    leaveDead(root, entriesUpTo(1))
    const service = await started({ apiKeys: [KEY] })
    expect(await spool(root, ['replay', nameDestination(REQUESTS, KEY)], to(service))).toMatchObject({
      code: 1,
      out: expect.stringContaining('Sent 20 request logs: 19 accepted, 1 rejected.'),
    })
    expect((await spool(root, ['show', 'dead'])).out).toMatch(/200 +GET - 1\.5 ms\n {2}-> 422 type_error\.str, path: /)
    expect((await spool(root, ['replay', 'dead'], to(service))).out).toMatch(
      /^Sent 1 entry: 1 accepted, .*\nSent 1 request log: 0 accepted, 1 rejected\. Kept on disk: 0 request logs\.\n/,
    )
    expect(numbersAt(service)).toEqual([0])
    expect(service.requestLogs().items).toHaveLength(19)
  })

  test('a file of dead letters that cannot be read is reported once and kept, and the others are sent', async () => {
    const root = newRoot()
    const folder = leaveDead(root, entriesUpTo(1))
    const [written = ''] = readdirSync(folder)
    for (const name of ['a', 'b']) cpSync(join(folder, written), join(folder, `${name}.ndjson`))
    rmSync(join(folder, written))
    truncateSync(join(folder, 'a.ndjson'), 2 ** 28 + 1)
    const service = await started({ apiKeys: [KEY] })
    const { code, out } = await spool(root, ['replay', 'dead'], to(service))
    expect([code, numbersAt(service)]).toEqual([1, [0]])
    expect(out.match(/^.*dead\/a[-.].*$/gm)).toHaveLength(1)
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^a[-.]/)])
  })

  test('entries rejected without a name: all of a batch are stored, else it says how many are not', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(50))
    let result = { accepted: 0, rejected: 50, errors: [] }
    const server = await httpServer((response) => void response.end(JSON.stringify(result)))
    const env = to({ url: `${server.origin}/api/v1` })
    expect((await spool(root, ['replay', '--all'], env)).out).toMatch(/ 50 rejected\. Kept on disk: 0 entries\./)
    expect((await listed(root)).total).toMatchObject({ entries: 0, deadLetters: 50 })

    leave(root, entriesUpTo(50))
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
  })

  test('says how many entries wait if they cannot be claimed, and why', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(120))
    onTestFinished(failing('renameSync', () => 'EACCES'))
    const { code, out } = await spool(root, ['replay', '--all'])
    expect(code).toBe(1)
    expect(out).toContain('EACCES')
    expect(out).toContain('Kept on disk: 120 entries')
    expect(out).not.toContain('nothing to send')
  })

  test('a Retry-After of one endpoint applies to the other; Ctrl-C ends the wait', async () => {
    const root = both()
    let isAsked = false
    const server = await httpServer((response, { url }) => {
      if (url.endsWith('/ingest')) response.writeHead(503, { 'retry-after': '50' }).end(() => (isAsked = true))
      // In flight when the other endpoint asked for the pause, and accepted later.
      else void until(() => isAsked, 20_000).then(() => setTimeout(() => response.end(), 200))
    })
    const replay = startInProcess(['spool', 'replay', '--all', '--timeout', '300'], {
      PINO_INGEST_SPOOL_DIR: root,
      ...to({ url: `${server.origin}/api/v1` }),
    })
    await until(() => isAsked, 20_000)
    await new Promise((resolve) => setTimeout(resolve, 600))
    process.emit('SIGINT')
    expect(await replay.done).toMatchObject({ code: 1, out: expect.stringContaining('Kept on disk: 130 entries.') })
    expect(server.came.map(({ url }) => url).toSorted()).toEqual(['/api/v1/ingest', '/api/v1/ingest/requests'])
    expect((await listed(root)).total.entries).toBe(130)
  })
})

describe('instances of a running process', () => {
  test('are listed with their claimed folders, not sent, and never deleted', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(20))
    leave(root, entriesUpTo(10), { end: 'running' })
    const [live, claimed] = instancesIn(root)
    expect(live).toMatchObject({ state: 'running', pid: process.ppid, isFree: false })
    expect(claimed).toMatchObject({ state: 'claimed', claimedBy: live?.name, isFree: false })
    expect((await spool(root, ['ls'])).out).toMatch(
      new RegExp(`running +pid ${process.ppid}, lease \\d+ s old.*\\n.*claimed +by ${live?.name}`),
    )
    // A suspended process still owns its folder.
    const old = Date.now() / 1000 - 120
    utimesSync(join(live?.path ?? '', 'owner'), old, old)
    expect((await spool(root, ['ls'])).out).toMatch(/lease (?:2 min|1\d\d s) old/)

    const service = await started({ apiKeys: [KEY] })
    const held = expect.stringContaining(`held by a running process (pid ${process.ppid})`) as string
    expect(await spool(root, ['replay', live?.name ?? ''], to(service))).toMatchObject({ code: 1, out: held })
    expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({ code: 0, out: held })
    expect(service.arrived).toBe(0)
    for (const [args, code] of [
      [['--all'], 0],
      [['--older-than', '1s'], 0],
      [[live?.name ?? ''], 1],
      [[claimed?.name ?? ''], 1],
    ] as const)
      expect(await spool(root, ['purge', ...args, '--yes'])).toMatchObject({
        code,
        out: expect.stringContaining(': it is held by'),
      })
    expect((await listed(root)).total.entries).toBe(30)

    // Checked again before the rename, although it was listed as free.
    const machine = readMachine()
    const folder = join(root, live?.destination ?? '')
    const owner = new InstanceFolder(folder, { clock: systemClock, machine, isPowerSafe: false })
    expect(() => claimInstance(owner, machine, { ...(live as FoundInstance), isFree: true })).toThrow('is held by')
    owner.release()
  })
})

describe('purge', () => {
  test('lists the targets of both kinds, and deletes them with --yes', async () => {
    const root = both()
    leave(root, entriesUpTo(30), { apiKey: OTHER_KEY })
    const before = treeOf(root)
    const asked = await spool(root, ['purge', '--all'])
    expect(asked.code).toBe(2)
    expect(asked.out).toMatch(/killed, 250 request logs waiting/)
    expect(asked.out).toMatch(/--yes .* 3 instances with 160 entries and 250 request logs waiting/)
    expect(treeOf(root)).toEqual(before)
    for (const [id, deleted] of [
      [nameDestination(REQUESTS, KEY), '1 instance with 0 entries and 250 request logs'],
      [nameDestination(DOWN, OTHER_KEY), '1 instance with 30 entries'],
    ] as const)
      expect(await spool(root, ['purge', id, '--yes'])).toMatchObject({
        code: 0,
        out: expect.stringContaining(`Deleted ${deleted}`),
      })
    expect((await listed(root)).total).toMatchObject({ instances: 1, entries: 130 })
    expect(JSON.parse((await spool(root, ['purge', '--all', '--yes', '--json'])).out)).toMatchObject({
      isConfirmed: true,
      deleted: [{ entries: 130 }],
      kept: [],
    })
    expect((await listed(root)).total).toMatchObject({ instances: 0, bytes: 0 })
    expect(await spool(root, ['purge', '--all', '--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to delete'),
    })
  })

  test('by age, and only dead letters', async () => {
    const root = newRoot()
    leave(root, entriesUpTo(10))
    const [instance] = instancesIn(root)
    const folder = join(root, instance?.destination ?? '')
    cpSync(instance?.path ?? '', join(folder, '00000000-000000000000.left'), { recursive: true })
    const old = Date.now() / 1000 - 8 * 86_400
    utimesSync(join(folder, '00000000-000000000000.left', '00000001.seg'), old, old)
    leaveDead(root, entriesUpTo(1))
    for (const [args, said] of [
      [['--older-than', '7d'], 'Deleted 1 instance with 10 entries'],
      [['dead', '--older-than', '7d'], 'nothing to delete'],
      [['dead'], '1 file of dead letters'],
    ] as const)
      expect(await spool(root, ['purge', ...args, '--yes'])).toMatchObject({
        code: 0,
        out: expect.stringContaining(said),
      })
    expect(instancesIn(root).map(({ name }) => name)).toEqual([instance?.name])
  })
})

test.each(['ls', 'show dead', 'replay --all', 'purge --all --yes'])('an invalid root is reported: %s', async (args) => {
  const root = newRoot()
  const words = args.split(' ')
  writeFileSync(join(root, 'file'), '')
  mkdirSync(join(root, 'real'))
  symlinkSync(join(root, 'real'), join(root, 'link'))
  for (const [name, problem] of [
    ['missing', 'does not exist'],
    ['file', 'is not a folder'],
    ['link', 'is a symbolic link'],
  ] as const) {
    const { code, err } = await spool(join(root, name), [...words, '--json'])
    expect([code, JSON.parse(err)]).toEqual([
      1,
      { error: { code: 'SPOOL', message: expect.stringContaining(`${name} ${problem}`) as string } },
    ])
  }
  expect(readdirSync(join(root, 'real'))).toEqual([])
})

test.each([
  [['show', 'zzzz'], 1, 'zzzz was not found'],
  [['show', '9b2f8a52-8b9e-4b3c-9d50-2f7a1a0b7c11'], 1, 'batch 9b2f8a52'],
  [['purge', 'zzzz', '--yes'], 1, 'zzzz was not found'],
  [['replay', '9b2f8a52-8b9e-4b3c-9d50-2f7a1a0b7c11'], 1, 'pass its instance'],
  [['replay'], 2, 'needs an ID'],
  [['replay', 'dead', '--all'], 2, '--all'],
  [['replay', '--all', '--timeout', '0'], 2, '--timeout'],
  [['purge', '--yes'], 2, 'needs an ID'],
  [['purge', '--older-than', '7days'], 2, '--older-than'],
  [['show'], 2, 'needs an ID'],
  [['show', 'dead', '--limit', 'x'], 2, '--limit'],
  [['ls', 'this'], 2, 'unexpected argument this'],
  [['list'], 2, 'unknown command spool list'],
  [[], 2, 'ls, show, replay, purge'],
  [['ls', '--prot'], 2, 'unknown flag --prot'],
])('%j: exit %i', async (args, code, message) => {
  expect(await spool(newRoot(), args)).toMatchObject({ code, err: expect.stringContaining(message) })
})

test('replay needs a URL', async () => {
  const ran = await runInProcess(['spool', 'replay', '--all'], {
    PINO_INGEST_SPOOL_DIR: newRoot(),
    NODE_ENV: 'production',
  })
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('PINO_INGEST_URL') })
})
