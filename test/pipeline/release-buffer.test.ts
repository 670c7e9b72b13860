/** `release: true`: the release is registered at start, and entries do not wait long for it. */
import { expect, test, vi } from 'vitest'
import type { IngestOptions } from '../../src/options/resolve-options.js'
import { piped } from './create-pipeline.js'

const RELEASE: Partial<IngestOptions> = {
  release: true,
  version: '1.2.3',
  deploy: { commit: 'abc1234', branch: 'main', deployed_by: 'ci' },
}

test('all entries have the id, except those with their own release', async () => {
  const { write, arrived, service } = await piped(RELEASE)
  write({ msg: 'first' }, { release_id: 'own', msg: 'second' }, { release: { release_id: 'nested' }, msg: 'third' })
  await vi.waitFor(() => expect(service.releases().items).toHaveLength(1), { timeout: 4_000 })
  const [first, second, third] = await arrived()
  const [release] = service.releases().items
  expect(release?.release).toMatchObject({
    version: '1.2.3',
    commit_hash: 'abc1234',
    branch: 'main',
    deployed_by: 'ci',
  })
  expect(first?.release_id).toBe(release?.release_id)
  expect(second?.release_id).toBe('own')
  expect(third?.release_id).toBe(release?.release_id)
})

test('sends entries immediately if the service rejects the registration', async () => {
  const { write, service, reported, pipeline } = await piped(RELEASE)
  service.faults.add({ kind: 'status', status: 422, endpoint: 'releases' })
  write({ msg: 'first' })
  pipeline.endInput()
  await vi.waitFor(() => expect(service.arrived).toBe(1), { timeout: 4_000 })
  expect(service.entries().items[0]?.entry.release_id).toBeUndefined()
  expect(reported.find(({ name }) => name === 'ingest:problem')?.payload).toMatchObject({
    message: expect.stringMatching(/release/),
  })
  // The service has the entry before the transport has its reply.
  await vi.waitFor(() => expect(pipeline.snapshot).toMatchObject({ accepted: 1, pending: 0, balances: true }), {
    timeout: 10_000,
  })
})

test('an id set later is added to later entries', async () => {
  const { write, pipeline, arrived } = await piped({ batch: { intervalMs: 10 } })
  write({ msg: 'before' })
  pipeline.setReleaseId('rel-1')
  write({ msg: 'after' }, { msg: 'own', release_id: 'mine' })
  expect((await arrived()).map(({ release_id }) => release_id)).toEqual([undefined, 'rel-1', 'mine'])
})

test('waits for a registration with a short Retry-After, and the entries have its id', async () => {
  const { write, service } = await piped({ ...RELEASE, batch: { intervalMs: 10 } })
  service.faults.add({ kind: 'status', status: 429, endpoint: 'releases', retryAfter: 1, times: 1 })
  const startedAt = performance.now()
  write({ msg: 'first' })
  await vi.waitFor(() => expect(service.arrived).toBe(1), { timeout: 8_000, interval: 10 })
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(900)
  const [release] = service.releases().items
  expect(release).toBeDefined()
  expect(service.entries().items[0]?.entry.release_id).toBe(release?.release_id)
})

test('holds the entries for at most two Retry-After periods of the registration', async () => {
  const { write, service, pipeline, reported } = await piped({ ...RELEASE, batch: { intervalMs: 10 } })
  service.faults.add({ kind: 'status', status: 429, endpoint: 'releases', retryAfter: 1 })
  write({ msg: 'first' })
  await vi.waitFor(() => expect(pipeline.snapshot.accepted).toBe(1), { timeout: 8_000 })
  write({ msg: 'second' })
  await vi.waitFor(() => expect(pipeline.snapshot.accepted).toBe(2), { timeout: 8_000, interval: 10 })
  expect(service.faults.list()[0]?.hits).toBe(2)
  expect(reported.filter(({ name }) => name === 'ingest:problem')).toHaveLength(1)
})

test('retries a failed registration when entries are accepted after an outage', async () => {
  const { write, service, pipeline } = await piped({
    ...RELEASE,
    batch: { intervalMs: 10 },
    retry: { minMs: 1, maxMs: 1 },
  })
  service.faults.add({ kind: 'status', status: 503, endpoint: 'releases', times: 1 })
  service.faults.add({ kind: 'status', status: 503, endpoint: 'ingest', times: 2 })
  write({ msg: 'first' })
  await vi.waitFor(() => expect(service.releases().items).toHaveLength(1), { timeout: 8_000 })
  expect(pipeline.snapshot).toMatchObject({ accepted: 1 })
  const [release] = service.releases().items
  // The service has the release before the transport has its reply; until then entries have no id.
  await vi.waitFor(
    () => {
      write({ msg: 'later' })
      expect(service.entries().items[0]?.entry).toMatchObject({ message: 'later', release_id: release?.release_id })
    },
    { timeout: 8_000 },
  )
})
