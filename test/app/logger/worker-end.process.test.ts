/** The worker of `ingestOptions()` ends before the application: it is replaced, and every record arrives or is counted as lost. */
import type { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import pino from 'pino'
import type { Logger } from 'pino'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { IngestLoggerOptions } from '../../../src/app/logger/ingest-options.js'
import { flush, ingestOptions } from '../../../src/index.js'
import type { IngestService } from '../../../src/service/index.js'
import { started } from '../../service/support.js'
import { runScript } from '../../process/run-app.js'

const KEY = 'worker-end-key-27c1'
const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-worker-end-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A transport that does to its worker what a record says. */
const FAILING_TARGET = join(dir, 'failing-target.cjs')
writeFileSync(
  FAILING_TARGET,
  `const { Writable } = require('node:stream')
module.exports = async () => new Writable({
  write(chunk, encoding, done) {
    if (String(chunk).includes('destroy')) return this.destroy(new Error('the target failed'))
    if (String(chunk).includes('exit')) process.exit(0)
    if (String(chunk).includes('fill')) for (const all = [];;) all.push(Array(1000).fill(Math.random()))
    done()
  },
})`,
)

function streamOf(logger: Logger): EventEmitter & { readonly worker: Worker } {
  return Reflect.get(logger, pino.symbols.streamSym) as EventEmitter & { worker: Worker }
}

function create(service: IngestService, options: IngestLoggerOptions = {}): { logger: Logger; lost: () => number } {
  const logger = pino(ingestOptions({ url: service.url, apiKey: KEY, logTo: 'silent', ...options }))
  onTestFinished(async () => void (await flush(logger)))
  let lost = 0
  streamOf(logger).on('ingest:dropped', ({ count }: { count: number }) => (lost += count))
  return { logger, lost: () => lost }
}

const texts = (service: IngestService): string[] =>
  service.entries({ limit: Infinity }).items.map(({ entry }) => entry.message)

test.each([
  [0, false],
  [100, false],
  [100, true],
])('ended after %d records, with a spool: %s', async (count, hasSpool) => {
  const service = await started({ apiKeys: [KEY] })
  const { logger, lost } = create(service, { spool: hasSpool && { dir: join(dir, `spool-${count}`) } })
  const worker = streamOf(logger).worker
  for (let index = 0; index < count; index += 1) logger.info('before')
  if (count > 0) await flush(logger, { timeoutMs: 50_000 })
  await worker.terminate()
  const child = logger.child({ part: 'child' })
  child.warn('after')
  expect(await flush(logger, { timeoutMs: 50_000 })).toMatchObject({
    state: 'acknowledged',
    account: { balances: true },
  })
  expect(lost()).toBe(0)
  expect(texts(service).toSorted()).toEqual(['after', ...Array<string>(count).fill('before')])
})

test('in an outage without a spool: what the worker had in memory is counted as lost', async () => {
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'status', status: 503 })
  const { logger, lost } = create(service, { spool: false })
  for (let index = 0; index < 250; index += 1) logger.info('in memory')
  expect(await flush(logger, { timeoutMs: 1_000 })).toMatchObject({ state: 'timeout' })
  await streamOf(logger).worker.terminate()
  await expect.poll(lost, { timeout: 50_000 }).toBe(250)
  service.faults.clear()
  expect(await flush(logger, { timeoutMs: 50_000 })).toMatchObject({
    account: { dropped: { shutdown: 250 }, balances: true },
  })
})

test('a flush after the end of a worker includes what that worker left on disk', async () => {
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'status', status: 503 })
  const { logger } = create(service, { spool: { dir: join(dir, 'left') }, requestTimeoutMs: 200 })
  for (let index = 0; index < 5; index += 1) logger.info('stored')
  expect(await flush(logger, { timeoutMs: 50_000 })).toMatchObject({ state: 'spooled' })
  await streamOf(logger).worker.terminate()
  // The system may list the thread of the former worker for a while; until then its folder is not read.
  await expect.poll(() => flush(logger, { timeoutMs: 50_000 }), { timeout: 60_000 }).toMatchObject({ state: 'spooled' })
  service.faults.clear()
})

test('in an outage: what is on disk is sent by the new worker, what was not read is counted as lost', async () => {
  const service = await started({ apiKeys: [KEY] })
  service.faults.add({ kind: 'status', status: 503 })
  const { logger, lost } = create(service, { spool: { dir: join(dir, 'outage') }, requestTimeoutMs: 200 })
  for (let index = 0; index < 1_000; index += 1) logger.info(`stored ${index}`)
  expect(await flush(logger, { timeoutMs: 50_000 })).toMatchObject({ state: 'spooled' })
  const worker = streamOf(logger).worker
  for (let index = 0; index < 10; index += 1) logger.info(`unread ${index}`)
  await worker.terminate()
  logger.info('after')
  service.faults.clear()
  await expect.poll(() => texts(service).filter((text) => text === 'after').length, { timeout: 50_000 }).toBe(1)
  await expect
    .poll(() => new Set(texts(service).filter((text) => text.startsWith('stored'))).size, { timeout: 50_000 })
    .toBe(1_000)
  expect(lost() + texts(service).filter((text) => text.startsWith('unread')).length).toBe(10)
})

test.each(['destroy', 'exit', 'fill'])('another transport in targets ends the worker: %s', async (what) => {
  const service = await started({ apiKeys: [KEY] })
  const { logger, lost } = create(service, {
    level: 'debug',
    transport: {
      worker: { resourceLimits: { maxOldGenerationSizeMb: 32 } },
      targets: [
        { target: 'pino-ingest', options: { url: service.url, apiKey: KEY, logTo: 'silent', spool: false } },
        { target: FAILING_TARGET, options: {} },
      ],
    },
    url: undefined,
    apiKey: undefined,
    logTo: undefined,
  })
  logger.debug('below the level of the targets')
  logger.info('before')
  await flush(logger, { timeoutMs: 50_000 })
  const ended = new Promise((resolve) => streamOf(logger).once('close', resolve))
  logger.info(what)
  await ended
  logger.info('after')
  expect(await flush(logger, { timeoutMs: 50_000 })).toMatchObject({ state: 'acknowledged' })
  expect(texts(service)).toContain('after')
  expect(lost() + texts(service).filter((text) => text === what).length).toBe(1)
})

test('a worker that fails after every restart: the application continues, and the lost records are counted', async () => {
  const { code, stdout, stderr } = await runScript(
    `import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
const ends = []
const alive = setInterval(() => {}, 60_000)
subscribe('worker_threads', ({ worker }) => ends.push(once(worker, 'exit')))
const logger = pino(ingestOptions({ ...options, transport: {
  targets: [{ target: 'pino-ingest', options: {} }, { target: '${FAILING_TARGET}', options: {} }],
} }))
for (let round = 0; round < 10; round += 1) {
  logger.info('destroy')
  await ends[round]
}
clearInterval(alive)
console.log((await flush(logger, { timeoutMs: 50_000 })).state)`,
    { url: 'http://127.0.0.1:9/api/v1', apiKey: KEY, spool: false },
  )
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'timeout\n' })
  expect(stderr.match(/the target failed/g)).toHaveLength(4)
  const lost = [...stderr.matchAll(/(\d+) (?:entry|entries|records?) (?:\(shutdown\)|(?:is|are) lost)/g)].map(
    ([, count]) => Number(count),
  )
  expect(lost.reduce((sum, count) => sum + count, 0)).toBe(10)
})
