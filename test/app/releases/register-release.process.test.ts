/** `registerRelease()` with the local service, and how it reaches the transport behind a logger. */
import { EventEmitter } from 'node:events'
import { tmpdir } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { notifyRelease, registerRelease } from '../../../src/app/releases/register-release.js'
import { answerFlushRequests } from '../../../src/transport/flush-responder.js'
import type { Pipeline } from '../../../src/pipeline/pipeline.js'
import { RELEASED_EVENT } from '../../../src/transport/worker-messages.js'
import { failureOf } from '../../client/failure-of.js'
import { FakeClock, settled } from '../../fake-clock.js'
import { started } from '../../service/support.js'
import { withCleanEnv } from '../../client/release/clean-env.js'
import { clone, git } from '../../client/release/clones.js'

const KEY = 'release-key-4711'

withCleanEnv()

describe('registers', () => {
  test('in a clone, with the given values', async () => {
    const service = await started({ apiKeys: [KEY] })
    const cwd = clone()
    const id = await registerRelease({ url: service.url, apiKey: KEY, cwd, version: '1.4.0', changelog: 'Cart' })
    const detected = { commit_hash: git(cwd, 'rev-parse', 'HEAD'), branch: 'topic/cart' }
    expect(service.releases().items).toMatchObject([
      { release_id: id, release: { version: '1.4.0', changelog: 'Cart', ...detected } },
    ])
  })

  test('with url and key of the environment, in the folder of the process', async () => {
    const service = await started({ apiKeys: [KEY] })
    vi.stubEnv('PINO_INGEST_URL', service.url)
    vi.stubEnv('PINO_INGEST_API_KEY', KEY)
    await registerRelease()
    const { version } = await import('../../../package.json', { with: { type: 'json' } }).then(
      (module) => module.default,
    )
    expect(service.releases().items).toMatchObject([{ release: { version } }])
  })

  test.each<[object, string, string]>([
    [{ cwd: tmpdir() }, 'CONFIG', 'PINO_INGEST_VERSION'],
    [{ version: 1 }, 'INVALID', 'release.version'],
    [{ commit: 'c' }, 'CONFIG', 'commit'],
    [{ url: undefined, version: '1' }, 'CONFIG', 'PINO_INGEST_URL'],
  ])('reports %j before it sends anything', async (options, code, fact) => {
    const service = await started({ apiKeys: [KEY] })
    const error = failureOf(registerRelease({ url: service.url, apiKey: KEY, ...options }), KEY)
    expect(await error).toMatchObject({ code, message: expect.stringContaining(fact) })
    expect(service.requests).toEqual([])
  })

  test('is aborted by its signal', async () => {
    const service = await started({ apiKeys: [KEY] })
    service.faults.add({ kind: 'hang' })
    const controller = new AbortController()
    const registering = failureOf(
      registerRelease({ url: service.url, apiKey: KEY, version: '1', signal: controller.signal }),
      KEY,
    )
    await vi.waitFor(() => expect(service.requests).toHaveLength(1), { timeout: 20_000 })
    controller.abort()
    expect(await registering).toMatchObject({ code: 'ABORTED' })
  })
})

/** The stream of pino, with a worker that listens as ours does. */
class FakeWorker extends EventEmitter {
  readonly worker = {}
  ready = true
  readonly pipelines: string[][] = []
  readonly port = new EventEmitter()

  constructor() {
    super()
    Object.assign(this.port, {
      postMessage: ({ name, args }: { name: string; args: unknown[] }) => this.emit(name, ...args),
    })
    this.on('message', (message) => this.port.emit('message', message))
  }

  add(): readonly string[] {
    const ids: string[] = []
    answerFlushRequests(
      this.port as unknown as MessagePort,
      Promise.resolve({ setReleaseId: (id: string) => void ids.push(id) } as unknown as Pipeline),
      new FakeClock(),
    )
    return ids
  }
}

const STREAM = Symbol('pino.stream')

describe('notifies', () => {
  afterEach(() => {
    delete (globalThis as Record<symbol, unknown>)[Symbol.for('pino-ingest.pipelines')]
  })

  test('a starting worker once it is ready', async () => {
    const clock = new FakeClock()
    const worker = new FakeWorker()
    const ids = worker.add()
    worker.ready = false
    const telling = notifyRelease({ [STREAM]: worker }, 'rel-1', clock)
    await clock.advance(4_000)
    expect(ids).toEqual([])
    worker.emit('ready')
    await telling
    expect(ids).toEqual(['rel-1'])
    expect(clock.timers).toBe(0)
  })

  test('a transport that starts later, without waiting for it', async () => {
    const clock = new FakeClock()
    const worker = new FakeWorker()
    const ids = worker.add()
    worker.ready = false
    let isDone = false
    void notifyRelease({ [STREAM]: worker }, 'rel-1', clock).then(() => (isDone = true))
    await clock.advance(5_000)
    expect(isDone).toBe(true)
    worker.emit('ready')
    expect(ids).toEqual(['rel-1'])
  })

  test('does not wait for a worker without this transport', async () => {
    const clock = new FakeClock()
    const worker = new FakeWorker()
    let isDone = false
    void notifyRelease({ [STREAM]: worker }, 'rel-1', clock).then(() => (isDone = true))
    await settled()
    expect(isDone).toBe(false)
    await clock.advance(1_000)
    expect(isDone).toBe(true)
    expect(worker.listenerCount(RELEASED_EVENT)).toBe(0)
  })
})
