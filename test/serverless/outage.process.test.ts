/** The service is down, or the sandbox is terminated: the caller is not delayed, and flushed entries are not lost. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox, work } from './sandbox.js'
import { envFor, numbersIn, startService, upTo } from './service.js'

function spoolDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-serverless-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test.each([
  ['refuses connections', 'with', 'spooled'],
  ['hangs', 'without', 'timeout'],
] as const)(
  'the service %s, %s a spool: the flush ends in time as %s, and a later invocation delivers',
  async (how, spool, state) => {
    const service = await startService()
    const options = {
      spool: spool === 'with' ? { dir: spoolDir() } : false,
      requestTimeoutMs: 800,
      retry: { maxMs: 500 },
    }
    const sandbox = await startSandbox('logging', envFor(service.url, options))
    await work(sandbox, { from: 0, count: 10, flushMs: 10_000 })
    if (how === 'hangs') service.faults.add({ kind: 'hang' })
    else await service.close()
    const down = await work(sandbox, { from: 10, count: 10, flushMs: 1_600 })
    expect(down.state).toBe(state)
    expect(down.tookMs).toBeLessThan(1_600 + 3_000)
    expect(down.account).toMatchObject({ received: 20, accepted: 10, pending: 10, balances: true })

    await sandbox.freeze()
    if (how === 'hangs') service.faults.clear()
    const back = how === 'hangs' ? service : await startService(service.port)
    sandbox.thaw()
    await expect(work(sandbox, { from: 20, count: 10, flushMs: 10_000 })).resolves.toMatchObject({
      state: 'acknowledged',
    })
    expect([...new Set(numbersIn(back))]).toEqual(how === 'hangs' ? upTo(30) : upTo(30).slice(10))
  },
)

test('killed while suspended, with a spool: the next process with that folder sends the remaining entries', async () => {
  const service = await startService()
  const env = envFor(service.url, { spool: { dir: spoolDir() }, batch: { intervalMs: 60_000 } })
  const sandbox = await startSandbox('logging', env)
  await expect(work(sandbox, { from: 0, count: 10, flushMs: 10_000 })).resolves.toMatchObject({ state: 'acknowledged' })
  await sandbox.invoke({ from: 10, count: 10 }, { onPosted: () => void process.kill(sandbox.pid, 'SIGSTOP') })
  await sandbox.freeze()
  expect(numbersIn(service)).toEqual(upTo(10))
  await sandbox.kill()
  const next = await startSandbox('logging', env)
  await expect(work(next, { from: 20, count: 1, flushMs: 10_000 })).resolves.toMatchObject({ state: 'acknowledged' })
  await service.waitForEntries(21)
  expect(numbersIn(service)).toEqual(upTo(21))
})
