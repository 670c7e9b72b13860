/**
 * The ways to end a process. With the service up, all entries are delivered; with the service down, losses are
 * reported. Other combinations are in `exits.full.test.ts`.
 */
import { describe, expect, test } from 'vitest'
import { COUNT, KEY, LOGGED_AT_EXIT, checkAllArrives, checkKept, checkLoggedAtExit, startExits } from './exits.js'
import { runApp, startApp } from './run-app.js'

describe.concurrent('service up', () => {
  test.for([
    ['target', 'throw'],
    ['pipeline', 'exit'],
    ['stream', 'natural'],
  ] as const)('%s, %s: everything arrives', async ([mode, end], context) =>
    checkAllArrives(await startExits(context), mode, end),
  )

  test('in-process, process.exit leaves no time: the next start sends the entries on disk', async (context) => {
    const { plan, arrived, nextStart } = await startExits(context)
    const { code, stderr } = await runApp(plan({ mode: 'stream', end: 'exit' }))
    expect(code).toBe(0)
    const kept = /(\d+) entries are not yet acknowledged/.exec(stderr)
    expect(Number(kept?.[1]) + arrived()).toBeGreaterThanOrEqual(COUNT)
    await nextStart(COUNT)
    expect(arrived()).toBe(COUNT)
  })

  test('in-process, process.exit without a spool: the lost entries are reported with their number', async (context) => {
    const { plan, arrived } = await startExits(context)
    const options = { ...plan({}).options, spool: false }
    const { code, stderr } = await runApp(plan({ mode: 'stream', end: 'exit', options }))
    expect(code).toBe(0)
    const reported = /dropped (\d+) entries \(shutdown\)/.exec(stderr)
    expect(Number(reported?.[1]) + arrived()).toBeGreaterThanOrEqual(COUNT)
  })

  test('in-process, a listener for `beforeExit` that logs at each event does not keep the process alive, and its first record arrives', async (context) => {
    const { service, logAtExit } = await startExits(context)
    expect(await logAtExit('before-exit-last', { spool: false })).toEqual({ code: 0, logged: 3, dropped: 1 })
    expect(service().arrived).toBe(2)
  })

  test('in-process, what a handler logs before it sends the signal again arrives, and the exit code is that of the signal', async (context) => {
    const { service, logAtExit } = await startExits(context)
    expect(await logAtExit('raised', { spool: false })).toEqual({ code: 143, logged: 2, dropped: 0 })
    expect(service().arrived).toBe(2)
  })

  test.for([
    ['signal', 143],
    ['hold', 0],
  ] as const)(
    'SIGTERM, %s (signal: with flushOnSignal; hold: the application exits): everything arrives, and the exit code is %i',
    async ([end, code], context) => {
      const { plan, arrived } = await startExits(context)
      const app = startApp(plan({ end, waitsForWorker: true }))
      await app.heard('holding')
      app.child.kill('SIGTERM')
      expect((await app.done).code).toBe(code)
      expect(arrived()).toBe(COUNT)
    },
  )
})

describe.concurrent('service down', () => {
  test('each mode exits with 0, and the next start sends everything', async (context) =>
    checkKept(await startExits(context), ['target', 'stream']))

  test('what a listener for `exit` logs is on disk after every end, and the next start sends it', async (context) =>
    checkLoggedAtExit(await startExits(context), ['natural', 'exit', 'throw', 'handled'], 1))

  test('what a listener for `exit` logs without a spool is counted and reported', async (context) => {
    const { service, logAtExit } = await startExits(context)
    service().faults.add({ kind: 'status', status: 503 })
    const ends = ['throw', 'destroyed']
    const runs = await Promise.all(ends.map((end) => logAtExit(end, { spool: false })))
    expect(runs).toMatchObject(ends.map(() => ({ logged: LOGGED_AT_EXIT, dropped: LOGGED_AT_EXIT })))
  })

  test('processes that log one line and end send the backlog, too', async (context) => {
    const { plan, service, restart, arrived } = await startExits(context)
    await service().close()
    await runApp(plan({ end: 'exit' }))
    await restart()
    // One process suffices unless the machine is busy. If an exit did not wait, each would send only a few batches.
    for (let run = 0; run < 3 && arrived() < COUNT; run += 1) await runApp(plan({ count: 1, end: 'exit' }))
    expect(arrived()).toBe(COUNT)
  })

  test('without a spool, the loss is reported once with its count', async (context) => {
    const { plan, service } = await startExits(context)
    await service().close()
    const options = { ...plan({}).options, shutdownTimeoutMs: 500, spool: false }
    const runs = (['target', 'stream'] as const).map((mode) => runApp(plan({ mode, end: 'natural', options })))
    for (const { code, stderr } of await Promise.all(runs)) {
      expect(code).toBe(0)
      expect(stderr.match(/dropped/g)).toHaveLength(1)
      expect(stderr).toContain(`dropped ${COUNT} entries (shutdown)`)
      expect(stderr).toContain('ECONNREFUSED')
      expect(stderr).not.toContain(KEY)
    }
  })

  test('SIGTERM without a handler: the next start sends the entries that are on disk', async (context) => {
    const { plan, service, arrived, nextStart } = await startExits(context)
    service().faults.add({ kind: 'status', status: 503 })
    const app = startApp(plan({ end: 'unhandled', options: { ...plan({}).options, requestTimeoutMs: 500 } }))
    await app.heard('holding')
    app.child.kill('SIGTERM')
    expect((await app.done).signal).toBe('SIGTERM')
    service().faults.clear()
    await nextStart(COUNT)
    expect([service().arrived, arrived()]).toEqual([COUNT, COUNT])
  })
})
