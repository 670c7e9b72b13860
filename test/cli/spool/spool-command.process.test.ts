/** `pino-ingest spool replay` as a process, and while the service does not accept anything. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { nameDestination } from '../../../src/spool/spool-root.js'
import { httpServer } from '../../client/http-servers.js'
import { startApp } from '../../process/run-app.js'
import { started, until } from '../../service/support.js'
import { runCli, startCli } from '../run-cli.js'
import {
  DOWN,
  KEY,
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

test('sends what a killed application left; a killed replay leaves the rest for the next one', async () => {
  const root = newRoot()
  const options = { url: DOWN, apiKey: KEY, service: 'checkout', logTo: 'silent' as const }
  const app = startApp({ mode: 'target', options, count: 300, end: 'hold' }, { PINO_INGEST_SPOOL_DIR: root })
  onTestFinished(() => void app.child.kill('SIGKILL'))
  await vi.waitFor(async () => expect((await listed(root)).total.entries).toBe(300), 20_000)
  app.child.kill('SIGKILL')
  await app.done
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'delay', delayMs: 0, times: 1 })
  const undo = service.faults.add({ kind: 'hang' })
  const env = { PINO_INGEST_SPOOL_DIR: root, ...to(service) }
  const replay = startCli(['spool', 'replay', '--all'], env)
  await until(() => service.requests.length === 3, 20_000)
  replay.child.kill('SIGKILL')
  await replay.done
  undo()
  // In the killed command's own folder.
  expect(instancesIn(root).map(({ state, isFree }) => [state, isFree])).toEqual([
    ['killed', true],
    ['claimed', true],
  ])
  const { code, stdout, stderr } = await runCli(['spool', 'replay', '--all', '--json'], env)
  expect([code, JSON.parse(stdout.toString()), stderr]).toMatchObject([0, { sent: 200, accepted: 200 }, ''])
  expect(numbersAt(service)).toEqual(upTo(300))
  expect((await listed(root)).total).toMatchObject({ instances: 0, bytes: 0 })
  expect(await runCli(['spool', 'purge', 'x'], env)).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
})

test('a wrong key ends it early, an outage at the timeout; all entries stay in place', async () => {
  const root = newRoot()
  leave(root, entriesUpTo(3_500)) // more batches than the concurrency
  const service = await started({ apiKeys: [KEY] })
  expect(await spool(root, ['replay', '--all', '--timeout', '2'], to(service, 'a-wrong-key-000'))).toMatchObject({
    code: 1,
    out: expect.stringMatching(/0 accepted, 0 rejected. Kept on disk: 3,500 entries.\n.*status 401/),
  })
  // Others show that not only the first batch fails.
  expect(service.requests.length).toBeLessThan(7)
  expect(await spool(root, ['replay', '--all', '--timeout', '1'])).toMatchObject({
    code: 1,
    out: expect.stringContaining('Kept on disk: 3,500 entries'),
  })
  const filled = (await listed(root)).destinations.filter(({ instances }) => instances.length > 0)
  expect(filled.map(({ name }) => name)).toEqual([nameDestination(DOWN, KEY)])
  expect(filled.flatMap(({ instances }) => instances).every(({ isFree }) => isFree)).toBe(true)
  expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({ code: 0 })
  expect(numbersAt(service)).toEqual(upTo(3_500))
})

test('if the service accepts only entries, request logs stay on disk', async () => {
  const root = newRoot()
  leave(root, entriesUpTo(130))
  leave(root, logsUpTo(250), { url: REQUESTS })
  const server = await httpServer((response, { url, body }) => {
    const isIngest = url === '/api/v1/ingest'
    const accepted = isIngest ? (JSON.parse(body) as { logs: unknown[] }).logs.length : 0
    const reply = JSON.stringify({ accepted, rejected: 0, message: '', errors: [] })
    response.writeHead(isIngest ? 200 : 404).end(isIngest ? reply : '')
  })
  const { code, out } = await spool(root, ['replay', '--all', '--timeout', '2'], to({ url: `${server.origin}/api/v1` }))
  expect(out).toMatch(
    /^Sent 130 entries: 130 accepted, .*\nSent \d+ request logs: 0 accepted, 0 rejected\. Kept on disk: 250 request logs\.\n.*status 404/,
  )
  expect(code).toBe(1)
  expect(server.came.filter(({ url }) => url === '/api/v1/ingest/requests').length).toBeLessThan(7)
})

test('damaged lines of dead letters are kept, and nothing is lost while the service is down', async () => {
  const root = newRoot()
  const folder = leaveDead(root, entriesUpTo(230), DOWN, '{"at":"half writt')
  const { destinations } = await listed(root)
  expect(destinations[0]?.deadLetters).toMatchObject({ entries: 230, damagedLines: 1, reasons: [{ count: 230 }] })
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

test('a gateway that rejects everything creates no dead letters; a single bad entry is found', async () => {
  const root = newRoot()
  leave(root, entriesUpTo(250))
  const service = await started({ apiKeys: [KEY] })
  const undo = service.faults.add({ kind: 'status', status: 400 })
  // Each probe becomes a batch. The bad entry must not be one: alone, it can only be proven bad by batches that are left.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0)
  expect(await spool(root, ['replay', '--all', '--timeout', '2'], to(service))).toMatchObject({
    code: 1,
    out: expect.stringContaining('0 accepted, 0 rejected. Kept on disk: 250 entries.'),
  })
  expect(service.requests.length).toBeLessThan(30)
  random.mockRestore()
  undo()
  service.faults.add({ kind: 'reject-containing', text: '"n":7}', form: 'nameless' })
  expect(await spool(root, ['replay', '--all'], to(service))).toMatchObject({
    code: 1,
    out: expect.stringContaining('249 accepted, 1 rejected. Kept on disk: 0 entries.'),
  })
  expect(numbersAt(service)).toEqual(upTo(250).filter((n) => n !== 7))
  expect((await spool(root, ['show', 'dead', '--json'])).out).toContain('"n":7}')
})
