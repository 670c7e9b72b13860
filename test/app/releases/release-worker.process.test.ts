/** `registerRelease({ logger })` in every mode: records logged afterwards have the release id. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cleanEnv, runApp } from '../../process/run-app.js'
import { started } from '../../service/support.js'

const KEY = 'release-key-4711'

function startReleased(plan: object): ReturnType<typeof fork> {
  const child = fork(fileURLToPath(new URL('released.mjs', import.meta.url)), {
    env: cleanEnv({ PLAN: JSON.stringify(plan) }),
    execArgv: [],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test.each([
  ['target', false, 1],
  ['child', false, 1],
  ['targets', false, 2],
  ['pipeline', false, 1],
  ['stream', false, 1],
  ['multistream', false, 2],
  ['target', true, 1],
  ['targets', true, 2],
  ['pipeline', true, 1],
] as const)('%s, cold %s', async (mode, isCold, copies) => {
  const service = await started({ apiKeys: [KEY] })
  const plan = { mode, isCold, options: { url: service.url, apiKey: KEY } }
  const child = startReleased(plan)
  const [{ releaseId, state }] = (await once(child, 'message')) as [{ releaseId: string; state: string }]
  expect(state).toBe('acknowledged')
  expect(service.releases().items).toMatchObject([{ release_id: releaseId, release: { version: '1.4.0' } }])
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => [entry.message, entry.release_id])
  const expected = [...(isCold ? [] : [['before', undefined]]), ['after', releaseId], ['own', 'own']].flatMap((one) =>
    Array.from({ length: copies }, () => one),
  )
  expect(entries.toSorted()).toEqual(expected.toSorted())
})

test('recovered entries are sent unchanged, new ones have the release id', { timeout: 60_000 }, async () => {
  const service = await started({ apiKeys: [KEY] })
  const options = { url: service.url, apiKey: KEY, shutdownTimeoutMs: 500, requestTimeoutMs: 1_000 }
  const mend = service.faults.add({ kind: 'status', status: 503, endpoint: 'ingest' })
  const { code } = await runApp({ mode: 'target', options, count: 300, end: 'exit' })
  expect(code).toBe(0)
  expect(service.arrived).toBe(0)
  mend()
  const child = startReleased({ mode: 'target', isCold: false, options: { url: service.url, apiKey: KEY } })
  const [{ releaseId }] = (await once(child, 'message')) as [{ releaseId: string }]
  await vi.waitFor(() => expect(service.arrived).toBe(303), { timeout: 20_000 })
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => entry)
  const withId = entries.filter(({ release_id: id }) => id === releaseId).map(({ message }) => message)
  expect(withId).toEqual(['after'])
  expect(entries.filter(({ message, release_id: id }) => message === 'numbered' && id === undefined)).toHaveLength(300)
})
