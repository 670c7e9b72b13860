/** `registerRelease()` with the local service, and how it reaches the transport behind a logger. */
import { EventEmitter } from 'node:events'
import type { MessagePort } from 'node:worker_threads'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { registerRelease } from '../../../src/app/releases/register-release.js'
import { notifyRelease } from '../../../src/app/releases/register-release.js'
import { IngestError } from '../../../src/shared/errors.js'
import { answerFlushRequests } from '../../../src/transport/flush-responder.js'
import type { Pipeline } from '../../../src/pipeline/pipeline.js'
import { RELEASED_EVENT, RELEASE_METHOD } from '../../../src/transport/worker-messages.js'
import { failureOf } from '../../client/failure-of.js'
import { FakeClock, settled } from '../../fake-clock.js'
import { started } from '../../service/support.js'
import { withCleanEnv } from '../../client/release/clean-env.js'
import { clone, git, scratch } from '../../client/release/clones.js'

const KEY = 'release-key-4711'

withCleanEnv()

describe('registers', () => {
  test('in a clone, with the given values', async () => {
    const service = await started({ apiKeys: [KEY] })
    const cwd = clone()
    const id = await registerRelease({ url: service.url, apiKey: KEY, cwd, version: '1.4.0', changelog: 'Cart' })
    expect(service.releases().items).toMatchObject([
      {
        release_id: id,
        release: {
          version: '1.4.0',
          changelog: 'Cart',
          commit_hash: git(cwd, 'rev-parse', 'HEAD'),
          branch: 'topic/cart',
        },
      },
    ])
  })

  test('fails at once if a Retry-After ends after timeoutMs; the message names a wrong timeoutMs', async () => {
    const service = await started({ apiKeys: [KEY] })
    service.faults.add({ kind: 'status', status: 503, retryAfter: 60 })
    const options = { url: service.url, apiKey: KEY, version: '1', timeoutMs: 20_000 }
    expect(await failureOf<IngestError>(registerRelease(options), KEY)).toMatchObject({
      code: 'RATE_LIMITED',
      status: 503,
      retryAfterMs: 60_000,
    })
    expect(await failureOf<IngestError>(registerRelease({ ...options, timeoutMs: 0 }), KEY)).toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(/timeoutMs .* got 0$/),
    })
    expect(service.requests).toHaveLength(1)
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

  test('reports invalid values before it sends anything', async () => {
    const service = await started({ apiKeys: [KEY] })
    const way = { url: service.url, apiKey: KEY }
    expect(await failureOf(registerRelease({ ...way, cwd: scratch() }), KEY)).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('PINO_INGEST_VERSION'),
    })
    expect(await failureOf(registerRelease({ ...way, version: 1 } as never), KEY)).toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('release.version'),
    })
    expect(await failureOf(registerRelease({ ...way, commit: 'c' } as never), KEY)).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('commit'),
    })
    expect(await failureOf(registerRelease({ version: '1' }), KEY)).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('PINO_INGEST_URL'),
    })
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

  test('registers the release with another kind of logger, too', async () => {
    const service = await started({ apiKeys: [KEY] })
    const id = await registerRelease({ url: service.url, apiKey: KEY, version: '1', logger: {} })
    expect(service.releases().items).toMatchObject([{ release_id: id }])
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

  test('all transports in a worker, before it resolves', async () => {
    const worker = new FakeWorker()
    const [one, two] = [worker.add(), worker.add()]
    await notifyRelease({ [STREAM]: worker }, 'rel-1', new FakeClock())
    expect([one, two]).toEqual([['rel-1'], ['rel-1']])
    expect(worker.listenerCount(RELEASED_EVENT)).toBe(0)
  })

  test('streams in this thread and a worker in one multistream', async () => {
    const worker = new FakeWorker()
    const ids = worker.add()
    const own: string[] = []
    const stream = { [RELEASE_METHOD]: (id: string) => void own.push(id) }
    await notifyRelease(
      { [STREAM]: { streams: [{ stream }, { stream: worker }, { stream: { write() {} } }, null] } },
      'rel-1',
      new FakeClock(),
    )
    expect({ ids, own }).toEqual({ ids: ['rel-1'], own: ['rel-1'] })
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

  test('nothing without a logger, or with one that has ended', async () => {
    const clock = new FakeClock()
    const ended = Object.assign(new FakeWorker(), { destroyed: true })
    await notifyRelease({ [STREAM]: ended }, 'rel-1', clock)
    await notifyRelease({}, 'rel-1', clock)
    expect(clock.timers).toBe(0)
  })
})
