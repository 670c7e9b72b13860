/**
 * `flush(logger)` in every mode: `acknowledged` means that the service has all entries, `spooled` that they are on
 * disk.
 */
import { describe, expect, test } from 'vitest'
import type { FlushResult } from '../../../src/transport/flush-message.js'
import { flush } from '../../../src/index.js'
import { createIngestService } from '../../../src/service/index.js'
import { startApp } from '../../process/run-app.js'
import type { AppPlan } from '../../process/run-app.js'
import { lastingPort } from '../../reusable-port.mjs'

const KEY = 'flush-key-77ab'
const COUNT = 5_000

type Flushed = FlushResult & { readonly tookMs: number }

function planFor(mode: AppPlan['mode'], url: string, options: object = {}): AppPlan {
  return { mode, options: { url, apiKey: KEY, ...options }, count: COUNT, end: 'flush-all' }
}

describe.concurrent('flush', () => {
  test.each(['target', 'targets-copy', 'targets-before', 'targets-after', 'pipeline', 'stream'] as const)(
    '%s: acknowledged means that the service has the entry',
    async (mode) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      const app = startApp({
        ...planFor(mode, service.url),
        flushTimeoutMs: 20_000,
        ...(mode.startsWith('targets-') && { otherFile: '/dev/null' }),
      })
      const { state, account } = (await app.heard('flushed')).payload as Flushed
      const copies = mode === 'targets-copy' ? 2 : 1
      expect({ state, entries: service.entries({ limit: Infinity }).items.length }).toEqual({
        state: 'acknowledged',
        entries: copies * COUNT,
      })
      expect(account).toMatchObject({ received: copies * COUNT, accepted: copies * COUNT, pending: 0, balances: true })
      app.child.kill('SIGKILL')
      await app.done
      await service.close()
    },
  )

  test.each(['target', 'targets-copy', 'stream'] as const)(
    '%s: ends at its timeout when the service does not answer: everything is on disk, and the account balances',
    async (mode) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      service.faults.add({ kind: 'hang' })
      // A worker needs this long to start on a busy machine.
      const app = startApp({ ...planFor(mode, service.url, { requestTimeoutMs: 60_000 }), flushTimeoutMs: 10_000 })
      const { state, account, tookMs } = (await app.heard('flushed')).payload as Flushed
      expect(state).toBe('spooled')
      expect(tookMs).toBeLessThan(25_000)
      expect(account).toMatchObject({ accepted: 0, balances: true })
      app.child.kill('SIGKILL')
      await app.done
      await service.close()
    },
  )

  test.each(['target', 'targets-copy', 'stream'] as const)(
    '%s: resolves as spooled in an outage longer than the request timeout',
    async (mode) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      service.faults.add({ kind: 'status', status: 503 })
      const app = startApp({ ...planFor(mode, service.url, { requestTimeoutMs: 500 }), flushTimeoutMs: 20_000 })
      const { state, account } = (await app.heard('flushed')).payload as Flushed
      expect(state).toBe('spooled')
      expect(account).toMatchObject({ accepted: 0, pending: (mode === 'targets-copy' ? 2 : 1) * COUNT, balances: true })
      app.child.kill('SIGKILL')
      await app.done
      await service.close()
    },
  )

  test('without a spool, ends at its timeout in an outage', async () => {
    const service = await createIngestService({ apiKeys: [KEY] })
    service.faults.add({ kind: 'status', status: 503 })
    const app = startApp({
      ...planFor('target', service.url, { requestTimeoutMs: 200, spool: false }),
      flushTimeoutMs: 1_500,
    })
    expect((await app.heard('flushed')).payload).toMatchObject({ state: 'timeout' })
    app.child.kill('SIGKILL')
    await app.done
    await service.close()
  })

  test.each([
    ['target', true, 'spooled'],
    ['target', false, 'timeout'],
    ['targets-copy', true, 'spooled'],
    ['stream', true, 'spooled'],
    ['stream', false, 'timeout'],
  ] as const)('%s, spool %s: a pending flush does not keep the process alive', async (mode, hasSpool, state) => {
    const service = await createIngestService({ apiKeys: [KEY], port: await lastingPort() })
    await service.close()
    const app = startApp({
      ...planFor(mode, service.url, hasSpool ? {} : { spool: false }),
      flushTimeoutMs: hasSpool ? 15_000 : 2_000,
      holds: false,
    })
    const stuck = setTimeout(() => app.child.kill('SIGKILL'), 25_000)
    const { payload } = await app.heard('flushed')
    const { code, stderr } = await app.done
    clearTimeout(stuck)
    expect((payload as Flushed).state).toBe(state)
    expect(code).toBe(0)
    expect(stderr).toMatch(hasSpool ? /5000 entries are not yet acknowledged; kept on disk/ : /dropped 5000 entries/)
  })

  test('resolves at once without this transport or without a logger', async () => {
    expect(await flush({})).toEqual({ state: 'timeout' })
    expect(await flush(Object.create(null) as object)).toEqual({ state: 'timeout' })
  })
})
