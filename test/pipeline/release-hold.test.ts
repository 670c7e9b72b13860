/** `release: true`: the release is registered at start, and nothing waits long for it. */
import { expect, test, vi } from 'vitest'
import type { IngestOptions } from '../../src/options/resolve-options.js'
import { piped } from './create-pipeline.js'

const RELEASE: Partial<IngestOptions> = {
  release: true,
  version: '1.2.3',
  deploy: { commit: 'abc1234', branch: 'main', deployed_by: 'ci' },
}

test('entries carry the id from the first on, but for those that name a release themselves', async () => {
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

test('a service that refuses it gets the entries all the same, at once', async () => {
  const { write, service, reported, pipeline } = await piped(RELEASE)
  service.faults.add({ kind: 'status', status: 422, endpoint: 'releases' })
  const startedAt = performance.now()
  write({ msg: 'first' })
  pipeline.end()
  await vi.waitFor(() => expect(service.arrived).toBe(1), { timeout: 4_000 })
  expect(performance.now() - startedAt).toBeLessThan(4_500)
  expect(service.entries().items[0]?.entry.release_id).toBeUndefined()
  expect(reported.find(({ name }) => name === 'ingest:problem')?.payload).toMatchObject({
    message: expect.stringMatching(/release/),
  })
  // The service has it before its reply is here.
  await vi.waitFor(() => expect(pipeline.snapshot).toMatchObject({ accepted: 1, pending: 0, balances: true }), {
    timeout: 10_000,
  })
})

test('an id that comes later is on later entries', async () => {
  const { write, pipeline, arrived } = await piped({ batch: { intervalMs: 10 } })
  write({ msg: 'before' })
  pipeline.setReleaseId('rel-1')
  write({ msg: 'after' }, { msg: 'own', release_id: 'mine' })
  expect((await arrived()).map(({ release_id }) => release_id)).toEqual([undefined, 'rel-1', 'mine'])
})

test('one that is asked back in time is awaited: what was held back carries its id', async () => {
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

test('a registration that is refused for as long as it is asked keeps the entries for two silences, and no longer', async () => {
  const { write, service, pipeline, reported } = await piped({ ...RELEASE, batch: { intervalMs: 10 } })
  service.faults.add({ kind: 'status', status: 429, endpoint: 'releases', retryAfter: 1 })
  write({ msg: 'first' })
  await vi.waitFor(() => expect(pipeline.snapshot.accepted).toBe(1), { timeout: 8_000 })
  write({ msg: 'second' })
  await vi.waitFor(() => expect(pipeline.snapshot.accepted).toBe(2), { timeout: 8_000, interval: 10 })
  expect(service.faults.list()[0]?.hits).toBe(2)
  expect(reported.filter(({ name }) => name === 'ingest:problem')).toHaveLength(1)
})

test('a registration that failed is tried again when entries were accepted after an outage', async () => {
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
  // The service has it before its reply is here: what is written meanwhile goes without the id.
  await vi.waitFor(
    () => {
      write({ msg: 'later' })
      expect(service.entries().items[0]?.entry).toMatchObject({ message: 'later', release_id: release?.release_id })
    },
    { timeout: 8_000 },
  )
})
