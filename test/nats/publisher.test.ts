/** The connection of a publisher, with a scripted client. */
import type { NatsConnection, Status } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import { Publisher } from '../../src/nats/publisher.js'
import { FakeClock, settled } from '../fake-clock.js'

/** A fake connection. */
class FakeClient {
  readonly info = { max_payload: 5_024 }
  readonly options = {}
  closes = 0
  #isClosed = false
  readonly #queue: Status[] = []
  #wake: () => void = () => {}
  #onClosed: () => void = () => {}
  readonly #closed = new Promise<void>((resolve) => (this.#onClosed = resolve))

  say(status: object): Promise<void> {
    this.#queue.push(status as Status)
    this.#wake()
    return settled()
  }

  async *status(): AsyncGenerator<Status> {
    for (;;) {
      while (this.#queue.length > 0) yield this.#queue.shift() as Status
      if (this.#isClosed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  closed(): Promise<void> {
    return this.#closed
  }

  async close(): Promise<void> {
    this.closes += 1
    this.#isClosed = true
    this.#wake()
    this.#onClosed()
  }
}

function setup({ isInProcess = false } = {}) {
  const clock = new FakeClock()
  const limits: number[] = []
  const attempts: { succeed: (client: FakeClient) => void; fail: (error: Error) => void }[] = []
  const connection = new Publisher({
    settings: { servers: ['a:1', 'b:2'], stream: 'S', destination: 'd' },
    clock,
    isInProcess,
    mask: (text) => text,
    onMaxBodyBytes: (bytes) => void limits.push(bytes),
    connect: () =>
      new Promise<NatsConnection>((resolve, reject) =>
        attempts.push({ succeed: (client) => resolve(client as never), fail: reject }),
      ),
  })
  const never = new AbortController().signal
  /** Outcome; undefined while pending. */
  const use = (reply: () => Promise<unknown> = () => Promise.resolve('reply'), signal = never) => {
    const state: { outcome?: unknown } = {}
    connection.use(signal, reply).then(
      (value) => (state.outcome = value),
      (error: Error) => (state.outcome = error.message),
    )
    return state
  }
  const connected = async (): Promise<FakeClient> => {
    const client = new FakeClient()
    const used = use()
    attempts.at(-1)?.succeed(client)
    await settled()
    expect(used.outcome).toBe('reply')
    return client
  }
  return { clock, limits, attempts, connection, use, connected }
}

const pending = (): Promise<never> => new Promise(() => {})

describe('opening', () => {
  test('one attempt serves all batches, and reports max_payload', async () => {
    const { attempts, limits, use } = setup()
    const [a, b] = [use(), use()]
    attempts[0]?.succeed(new FakeClient())
    await settled()
    expect([a.outcome, b.outcome, use().outcome, attempts.length, limits]).toEqual([
      'reply',
      'reply',
      undefined,
      1,
      [4_000],
    ])
  })

  test('a failed attempt names the servers; the next batch retries', async () => {
    const { attempts, use, connected } = setup()
    const used = use()
    attempts[0]?.fail(new Error('refused'))
    await settled()
    expect(used.outcome).toBe('refused (a:1, b:2)')
    await connected()
    expect(attempts).toHaveLength(2)
  })

  test('an attempt that takes long fails the batch', async () => {
    const { clock, use } = setup()
    const used = use()
    await clock.advance(60_000)
    expect(used.outcome).toEqual(expect.any(String))
  })

  test('a late failure of an aborted attempt does not affect the next one', async () => {
    const { attempts, clock, use } = setup({ isInProcess: true })
    const ending = new AbortController()
    use(pending, ending.signal)
    ending.abort()
    await clock.advance(0)
    const next = use()
    attempts[0]?.fail(new Error('refused'))
    await settled()
    const another = use()
    expect(attempts).toHaveLength(2)
    attempts[1]?.succeed(new FakeClient())
    await settled()
    expect([next.outcome, another.outcome]).toEqual(['reply', 'reply'])
  })
})

describe('while it is open', () => {
  test('when it is lost, pending requests fail immediately, and later ones are not sent', async () => {
    const { use, connected } = setup()
    const client = await connected()
    const [a, b] = [use(pending), use(pending)]
    await settled()
    await client.say({ type: 'disconnect' })
    expect([a.outcome, b.outcome]).toEqual(Array(2).fill('the connection to a:1, b:2 was lost'))
    const later = use()
    await settled()
    expect(later.outcome).toBe('the connection to a:1, b:2 was lost')
  })

  test('is used again after a reconnect, with max_payload of that server', async () => {
    const { use, connected, limits } = setup()
    const client = await connected()
    await client.say({ type: 'disconnect' })
    client.info.max_payload = 3_024
    await client.say({ type: 'reconnect' })
    const later = use()
    await settled()
    expect([later.outcome, limits]).toEqual(['reply', [4_000, 2_000]])
  })

  test("later failures have the servers' reason for refusing it, until a reconnect", async () => {
    const { use, connected } = setup()
    const client = await connected()
    const waiting = use(pending)
    await settled()
    await client.say({ type: 'error', error: new Error('authentication expired') })
    await client.say({ type: 'disconnect' })
    const later = use()
    await settled()
    expect([waiting.outcome, later.outcome]).toEqual(Array(2).fill('authentication expired'))
    await client.say({ type: 'reconnect' })
    await client.say({ type: 'disconnect' })
    const last = use()
    await settled()
    expect(last.outcome).toBe('the connection to a:1, b:2 was lost')
  })

  test('a permission violation is not a reason for the connection', async () => {
    const { use, connected } = setup()
    const client = await connected()
    await client.say({ type: 'error', error: Object.assign(new Error('x'), { name: 'PermissionViolationError' }) })
    await client.say({ type: 'disconnect' })
    const used = use()
    await settled()
    expect(used.outcome).toBe('the connection to a:1, b:2 was lost')
  })

  test('if it closes, pending requests fail and the next batch opens another connection', async () => {
    const { use, connected, attempts } = setup()
    const client = await connected()
    const waiting = use(pending)
    await settled()
    await client.close()
    await settled()
    expect(waiting.outcome).toBe('the connection was closed')
    await connected()
    expect(attempts).toHaveLength(2)
  })
})

describe('a batch', () => {
  test('that is aborted does not wait for its reply, and sends nothing if it was aborted before', async () => {
    const { use, connected, attempts } = setup()
    const ended = use(pending, AbortSignal.abort())
    await settled()
    expect([ended.outcome, attempts.length]).toEqual(['the attempt was aborted', 0])
    await connected()
    const ending = new AbortController()
    const used = use(pending, ending.signal)
    await settled()
    ending.abort()
    await settled()
    expect(used.outcome).toBe('the attempt was aborted')
  })
})

describe('if it keeps the process alive', () => {
  test('is closed after the idle time, which each batch restarts, and reopened by the next batch', async () => {
    const { use, connected, clock, attempts } = setup({ isInProcess: true })
    const client = await connected()
    await clock.advance(900)
    use()
    await clock.advance(900)
    expect(client.closes).toBe(0)
    await clock.advance(100)
    expect(client.closes).toBe(1)
    await connected()
    expect(attempts).toHaveLength(2)
  })

  test('status events of a closing connection do not affect the next one', async () => {
    const { use, connected, clock } = setup({ isInProcess: true })
    const client = await connected()
    client.close = () => new Promise(() => {})
    await clock.advance(1_000)
    await connected()
    const waiting = use(pending)
    await settled()
    await client.say({ type: 'disconnect' })
    expect(waiting.outcome).toBeUndefined()
  })

  test('is not closed while a batch waits, and immediately after a failure, since the server may hang', async () => {
    const { use, connected, clock } = setup({ isInProcess: true })
    const client = await connected()
    const ending = new AbortController()
    use(pending, ending.signal)
    await clock.advance(60_000)
    expect(client.closes).toBe(0)
    ending.abort()
    await clock.advance(0)
    expect(client.closes).toBe(1)
  })

  test('otherwise stays open', async () => {
    const { connected, clock } = setup()
    const client = await connected()
    await clock.advance(3_600_000)
    expect([client.closes, clock.timers]).toEqual([0, 0])
  })
})

describe('close', () => {
  test('closes the connection, fails pending requests, and opens no other connection', async () => {
    const { use, connected, connection, attempts } = setup()
    const client = await connected()
    const waiting = use(pending)
    await settled()
    await connection.close()
    await settled()
    expect([waiting.outcome, client.closes]).toEqual(['the connection was closed', 1])
    const later = use()
    await settled()
    expect([later.outcome, attempts.length]).toEqual(['the transport was closed', 1])
  })

  test.each([false, true])(
    'does not wait for an attempt, and closes a connection that opens later (in-process: %s)',
    async (isInProcess) => {
      const { use, connection, attempts, clock } = setup({ isInProcess })
      const waiting = use()
      await connection.close()
      const late = new FakeClient()
      attempts[0]?.succeed(late)
      await settled()
      expect([waiting.outcome, late.closes, clock.timers]).toEqual(['the connection was closed', 1, 0])
    },
  )
})
