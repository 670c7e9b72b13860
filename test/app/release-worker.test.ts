/** `registerRelease({ logger })` in every way of running: what is logged from then on carries the id. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnv } from '../process/run-app.js'
import { started } from '../service/support.js'

const KEY = 'release-key-4711'

test.each([
  ['target', false, 1], ['child', false, 1], ['targets', false, 2], ['pipeline', false, 1], ['stream', false, 1], ['multistream', false, 2],
  ['target', true, 1], ['targets', true, 2], ['pipeline', true, 1],
] as const)('%s, cold %s', async (mode, isCold, copies) => {
  const service = await started({ apiKeys: [KEY] })
  const plan = { mode, isCold, options: { url: service.url, apiKey: KEY } }
  const child = fork(fileURLToPath(new URL('released.mjs', import.meta.url)), { env: cleanEnv({ PLAN: JSON.stringify(plan) }), execArgv: [] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [{ releaseId, state }] = await once(child, 'message') as [{ releaseId: string, state: string }]
  expect(state).toBe('acknowledged')
  expect(service.releases().items).toMatchObject([{ release_id: releaseId, release: { version: '1.4.0' } }])
  const entries = service.entries({ limit: Infinity }).items.map(({ entry }) => [entry.message, entry.release_id])
  const expected = [...(isCold ? [] : [['before', undefined]]), ['after', releaseId], ['own', 'own']].flatMap((one) => Array.from({ length: copies }, () => one))
  expect(entries.toSorted()).toEqual(expected.toSorted())
})
