/** A spool folder that cannot be created: the worker reports it once and delivers from memory. */
import { existsSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { started } from '../service/support.js'
import { startApp } from './run-app.js'

/** Linux replies ENOENT to `mkdir` there, although the parent exists. */
const PLACE = '/proc/nope/spool'

test.skipIf(!existsSync('/proc/self'))(`spool.dir ${PLACE}`, async () => {
  const service = await started()
  const app = startApp({
    mode: 'target',
    count: 10,
    end: 'flush-all',
    holds: false,
    flushTimeoutMs: 10_000,
    options: { url: service.url, apiKey: 'a-key', spool: { dir: PLACE } },
  })
  onTestFinished(() => void app.child.kill('SIGKILL'))
  const { code, events, stderr } = await app.done
  expect(events.find(({ name }) => name === 'flushed')?.payload).toMatchObject({ state: 'acknowledged' })
  expect(code).toBe(0)
  expect(service.arrived).toBe(10)
  const problems = events
    .filter(({ name }) => name === 'ingest:problem')
    .map(({ payload }) => payload as { code: string; message: string })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatchObject({ code: 'SPOOL' })
  for (const fact of [PLACE, 'ENOENT']) expect(problems[0]?.message).toContain(fact)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})
