/** A local service and applications that end in different ways. */
import type { TestContext } from 'vitest'
import { expect } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { lastingPort } from '../reusable-port.mjs'
import { runApp, runProgram, startApp } from './run-app.js'
import type { AppPlan } from './run-app.js'

export const COUNT = 2_000
export const KEY = 'exits-key-c0ffee'
/** Of each logger in `logging-at-exit.mjs`. */
export const LOGGED_AT_EXIT = 3

export interface Exits {
  readonly service: () => IngestService
  readonly restart: () => Promise<void>
  readonly plan: (more: Partial<AppPlan>) => AppPlan
  /** The number of different records at the service. */
  readonly arrived: () => number
  /** Starts a process that logs nothing, and ends it when the service has `entries` entries. */
  readonly nextStart: (entries: number) => Promise<void>
  /** Runs `logging-at-exit.mjs`. */
  readonly logAtExit: (
    end: string,
    more?: { readonly streams?: number; readonly spool?: false },
  ) => Promise<{ readonly code: number | null; readonly logged: number; readonly dropped: number }>
}

/** With a service of its own, so that tests can run at the same time. */
export async function startExits({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Exits> {
  const port = await lastingPort()
  const start = async (): Promise<IngestService> => {
    const started = await createIngestService({ apiKeys: [KEY], port })
    onTestFinished(() => started.close())
    return started
  }
  let service = await start()
  const { url } = service
  // More time than by default: a busy machine needs it for the 20 requests.
  const options = { url, apiKey: KEY, shutdownTimeoutMs: 8_000 }
  const plan: Exits['plan'] = (more) => ({ mode: 'target', options, count: COUNT, ...more })
  return {
    plan,
    service: () => service,
    async restart() {
      service = await start()
    },
    arrived: () =>
      new Set(service.entries({ limit: Infinity }).items.map(({ entry }) => `${entry.tags} ${entry.metadata?.['n']}`))
        .size,
    async nextStart(entries) {
      const app = startApp(plan({ count: 0, end: 'hold' }))
      await service.waitForEntries(entries, { timeoutMs: 40_000 })
      app.child.kill('SIGTERM')
      expect((await app.done).code).toBe(0)
    },
    async logAtExit(end, { streams = 1, spool } = {}) {
      const own = { ...options, shutdownTimeoutMs: 500, ...(spool === false && { spool }) }
      const { code, stderr, events } = await runProgram('logging-at-exit.mjs', {
        PLAN: JSON.stringify({ options: own, streams, end }),
      })
      const dropped = [...stderr.matchAll(/dropped (\d+) entr/g)].reduce((sum, [, count]) => sum + Number(count), 0)
      return { code, logged: streams * Number(events.at(-1)), dropped }
    },
  }
}

/** The worker has started: pino waits for at most 10 s until it has read the records. */
export async function checkAllArrives(
  { plan, service, arrived }: Exits,
  mode: AppPlan['mode'],
  end: 'natural' | 'exit' | 'throw',
): Promise<void> {
  // The last failure must not cost the backoff.
  service().faults.add({ kind: 'status', status: 403, times: 1 })
  const { code, stderr } = await runApp(plan({ mode, end, waitsForWorker: mode !== 'stream' }))
  const isThrown = end === 'throw'
  expect({ code, isThrown: stderr.includes('uncaught on purpose') }).toEqual({ code: isThrown ? 1 : 0, isThrown })
  const count = mode === 'targets-copy' ? 2 * COUNT : COUNT
  expect([service().arrived, arrived()]).toEqual([count, count])
}

/** In an outage, each application logs while it ends; the next start sends the entries. */
export async function checkLoggedAtExit(
  { service, logAtExit, nextStart }: Exits,
  ends: readonly string[],
  streams: number,
): Promise<void> {
  const outage = service().faults.add({ kind: 'status', status: 503 })
  const runs = await Promise.all(ends.map((end) => logAtExit(end, { streams })))
  expect(runs).toMatchObject(ends.map(() => ({ logged: streams * LOGGED_AT_EXIT, dropped: 0 })))
  outage()
  await nextStart(ends.length * streams * LOGGED_AT_EXIT)
}

/** Without a service: no mode delays the exit, and the next start sends everything. */
export async function checkKept(
  { plan, service, restart, nextStart }: Exits,
  modes: readonly AppPlan['mode'][],
): Promise<void> {
  await service().close()
  let copies = 0
  await Promise.all(
    modes.map(async (mode) => {
      const { code, stderr } = await runApp(plan({ mode, end: mode === 'stream' ? 'natural' : 'exit' }))
      expect([mode, code, stderr.includes('dropped')]).toEqual([mode, 0, false])
      const kept = mode === 'targets-copy' ? 2 : 1
      expect([mode, stderr.match(/entries are not yet acknowledged; kept on disk/g)?.length]).toEqual([mode, kept])
      copies += kept
    }),
  )
  await restart()
  await nextStart(copies * COUNT)
  expect(service().arrived).toBe(copies * COUNT)
}
