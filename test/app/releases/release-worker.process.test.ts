/** `registerRelease({ logger })` in every mode: records logged afterwards have the release id. */
import { expect, test, vi } from 'vitest'
import { flush, registerRelease } from '../../../src/index.js'
import type { IngestService } from '../../../src/service/index.js'
import { runApp } from '../../process/run-app.js'
import { started } from '../../service/support.js'
import { loggerFor } from '../metrics/metrics-apps.js'
import type { Way } from '../metrics/metrics-apps.js'

const KEY = 'release-key-4711'
const WAYS = ['target', 'targets', 'pipeline', 'stream', 'multistream'] as const

/** Logs `before` unless `isCold`, `after` once the release is registered, and `own` with an id of its own. */
async function registerWith(service: IngestService, way: Way, isCold: boolean): Promise<string> {
  const options = { url: service.url, apiKey: KEY }
  const { logger } = loggerFor(way, { ...options, logTo: 'silent' })
  const child = logger.child({ part: 'web' })
  if (!isCold) {
    child.info('before')
    // The transport must have read this record before the release arrives; it is not enough to have logged it.
    await flush(logger, { timeoutMs: 50_000 })
  }
  const releaseId = await registerRelease({ ...options, version: '1.4.0', logger: child })
  child.info('after')
  logger.info({ release_id: 'own' }, 'own')
  expect((await flush(logger, { timeoutMs: 50_000 })).state, way).toBe('acknowledged')
  return releaseId
}

async function check(way: Way, isCold: boolean): Promise<void> {
  const service = await started({ apiKeys: [KEY] })
  const releaseId = await registerWith(service, way, isCold)
  expect(service.releases().items).toMatchObject([{ release_id: releaseId, release: { version: '1.4.0' } }])
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => [entry.message, entry.release_id])
  const expected = [...(isCold ? [] : [['before', undefined]]), ['after', releaseId], ['own', 'own']]
  const copies = way === 'targets' || way === 'multistream' ? 2 : 1
  expect({ way, entries: entries.toSorted() }).toEqual({
    way,
    entries: expected.flatMap((one) => Array.from({ length: copies }, () => one)).toSorted(),
  })
}

test('in each mode', () => Promise.all(WAYS.map((way) => check(way, false))))

test('in a worker that has yet to start', async (context) => {
  const startedAt = performance.now()
  await check('target', true).catch((error: unknown) => {
    // Its start is awaited for 5 s, and then the records that it reads at once may have no id.
    context.skip(performance.now() - startedAt > 5_000, 'the machine is too busy')
    throw error
  })
})

test('recovered entries are sent unchanged, new ones have the release id', async () => {
  const service = await started({ apiKeys: [KEY] })
  const options = { url: service.url, apiKey: KEY, shutdownTimeoutMs: 500, requestTimeoutMs: 1_000 }
  const mend = service.faults.add({ kind: 'status', status: 503, endpoint: 'ingest' })
  expect((await runApp({ mode: 'target', options, count: 300, end: 'exit' })).code).toBe(0)
  expect(service.arrived).toBe(0)
  mend()
  const releaseId = await registerWith(service, 'target', false)
  await vi.waitFor(() => expect(service.arrived).toBe(303), { timeout: 50_000 })
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => entry)
  const withId = entries.filter(({ release_id: id }) => id === releaseId).map(({ message }) => message)
  expect(withId).toEqual(['after'])
  expect(entries.filter(({ message, release_id: id }) => message === 'numbered' && id === undefined)).toHaveLength(300)
})
