/** `registerRelease`: the release is registered at start, and nothing waits for it. */
import { expect, test, vi } from 'vitest'
import type { IngestOptions } from '../../src/options/resolve-options.js'
import { piped } from './create-pipeline.js'
import type { Piped } from './create-pipeline.js'

const RELEASE: Partial<IngestOptions> = {
  registerRelease: true,
  version: '1.2.3',
  deploy: { commit: 'abc1234', branch: 'main', deployed_by: 'ci' },
  batch: { intervalMs: 10 },
  retry: { maxMs: 1 },
}

/** Logs until an entry has the id: the service has the release before the transport has its reply. */
async function untilStamped({ write, service }: Piped): Promise<string | undefined> {
  await vi.waitFor(
    () => {
      write({ msg: 'later' })
      expect(service.entries().items[0]?.entry.release_id).toBeDefined()
    },
    { timeout: 30_000 },
  )
  return service.releases().items[0]?.release_id
}

/** @returns the code of the first problem, which is that of the registration */
function reportedCode({ reported }: Piped): Promise<unknown> {
  return vi.waitFor(
    () => {
      const problem = reported.find(({ name }) => name === 'ingest:problem')
      expect(problem?.payload).toMatchObject({ message: expect.stringContaining('release') })
      return (problem as { payload: { code: unknown } }).payload.code
    },
    { timeout: 30_000 },
  )
}

test('records logged after the reply have the id, and earlier ones are sent without it', async () => {
  const run = await piped(RELEASE)
  const { write, service, pipeline, arrived } = run
  service.faults.add({ kind: 'delay', endpoint: 'releases', delayMs: 500 })
  write({ msg: 'before' })
  expect(await pipeline.flush()).toBe('acknowledged')
  const id = await untilStamped(run)
  expect(service.releases().items).toMatchObject([
    { release: { version: '1.2.3', commit_hash: 'abc1234', branch: 'main', deployed_by: 'ci' } },
  ])
  write({ msg: 'after' }, { release_id: 'own', msg: 'own' }, { release: { release_id: 'nested' }, msg: 'nested' })
  const entries = (await arrived()).filter(({ message }) => message !== 'later')
  expect(entries.map(({ message, release_id }) => [message, release_id])).toEqual([
    ['before', undefined],
    ['after', id],
    ['own', 'own'],
    ['nested', id],
  ])
})

test('flush and close do not wait for the reply, and the aborted registration is not reported', async () => {
  const { write, service, pipeline, arrived, reported } = await piped(RELEASE)
  service.faults.add({ kind: 'hang', endpoint: 'releases' })
  write({ msg: 'first' })
  expect(await pipeline.flush()).toBe('acknowledged')
  await vi.waitFor(() => expect(service.faults.list()[0]?.hits).toBe(1), { timeout: 30_000 })
  expect(await arrived()).toHaveLength(1)
  // After 5 s without a reply, the failure would be reported.
  expect(reported.filter(({ name }) => name === 'ingest:problem')).toEqual([])
})

test('reports that the service rejects the registration', async () => {
  const run = await piped(RELEASE)
  run.service.faults.add({ kind: 'status', status: 422, endpoint: 'releases' })
  expect(await reportedCode(run)).toBe('REJECTED')
  run.write({ msg: 'first' })
  expect((await run.arrived())[0]?.release_id).toBeUndefined()
})

test('retries when entries are accepted after a Retry-After of the registration', async () => {
  const run = await piped(RELEASE)
  run.service.faults.add({ kind: 'status', status: 429, endpoint: 'releases', retryAfter: 1, times: 1 })
  expect(await reportedCode(run)).toBe('RATE_LIMITED')
  expect(await untilStamped(run)).toBeDefined()
  const [refused, registered] = run.service.requests.filter(({ endpoint }) => endpoint === 'releases')
  expect(Number(registered?.at) - Number(refused?.at)).toBeGreaterThanOrEqual(1_000)
})

test('retries when entries are accepted after an outage', async () => {
  const run = await piped(RELEASE)
  run.service.faults.add({ kind: 'status', status: 503, endpoint: 'releases', times: 1 })
  run.service.faults.add({ kind: 'status', status: 503, endpoint: 'ingest', times: 2 })
  expect(await reportedCode(run)).toBe('UNAVAILABLE')
  expect(await untilStamped(run)).toBeDefined()
})
