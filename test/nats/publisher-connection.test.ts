/** The connection of a publisher, over a client that does what a test says. */
import type { NatsConnection, Status } from '@nats-io/transport-node'
import { describe, expect, test } from 'vitest'
import { PublisherConnection } from '../../src/nats/publisher-connection.js'
import { FakeClock, settled } from '../fake-clock.js'

/** A connection of the client. */
class FakeClient {
  readonly info = { max_payload: 1_000 }
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

  isClosed(): boolean {
    return this.#isClosed
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

function setup({ idleMs, holdsProcess = false }: { idleMs?: number; holdsProcess?: boolean } = {}) {
  const clock = new FakeClock()
  const limits: number[] = []
  const attempts: { succeed: (client: FakeClient) => void; fail: (error: Error) => void }[] = []
  const connection = new PublisherConnection({
    settings: { servers: ['a:1', 'b:2'], stream: 'S', subject: 's', destination: 'd' },
    clock,
    idleMs,
    holdsProcess,
    timeoutMs: 10_000,
    onMaxPayload: (bytes) => limits.push(bytes),
    connect: () =>
      new Promise<NatsConnection>((resolve, reject) =>
        attempts.push({ succeed: (client) => resolve(client as never), fail: reject }),
      ),
  })
  const never = new AbortController().signal
  /** The outcome, or undefined while it is pending. */
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
  test('one attempt serves all batches, and says the limit of a message', async () => {
    const { attempts, limits, use } = setup()
    const [a, b] = [use(), use()]
    attempts[0]?.succeed(new FakeClient())
    await settled()
    expect([a.outcome, b.outcome, use().outcome, attempts.length, limits]).toEqual([
      'reply',
      'reply',
      undefined,
      1,
      [1_000],
    ])
  })

  test('that fails names the servers; the next batch tries again', async () => {
    const { attempts, use, connected } = setup()
    const used = use()
    attempts[0]?.fail(new Error('refused'))
    await settled()
    expect(used.outcome).toBe('refused (a:1, b:2)')
    await connected()
    expect(attempts).toHaveLength(2)
  })

  test.each([false, true])(
    'is bounded in time; what is opened later is closed (sockets are noted: %s)',
    async (holdsProcess) => {
      const { attempts, clock, use, connected } = setup({ holdsProcess })
      const used = use()
      await clock.advance(9_999)
      expect(used.outcome).toBeUndefined()
      await clock.advance(1)
      expect(used.outcome).toContain('no connection within 10000 ms')
      const late = new FakeClient()
      attempts[0]?.succeed(late)
      await settled()
      expect(late.closes).toBe(1)
      expect((await connected()).closes).toBe(0)
    },
  )

  test('a timer is left by no attempt', async () => {
    const { attempts, clock, use, connected } = setup()
    use()
    attempts[0]?.fail(new Error('refused'))
    await settled()
    expect(clock.timers).toBe(0)
    await connected()
    expect(clock.timers).toBe(0)
  })

  test('the failure of an attempt that was given up does not end the next one', async () => {
    const { attempts, clock, use } = setup({ idleMs: 1_000 })
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

  test('a connection that has ended at once is not used', async () => {
    const { attempts, use } = setup()
    const used = use()
    const client = new FakeClient()
    await client.close()
    attempts[0]?.succeed(client)
    await settled()
    expect(used.outcome).toBe('not connected to a:1, b:2')
  })
})

describe('while it is open', () => {
  test.each(['disconnect', 'close'])('%s: what waits fails at once, and what follows is not sent', async (type) => {
    const { use, connected } = setup()
    const client = await connected()
    const [a, b] = [use(pending), use(pending)]
    await settled()
    await client.say({ type })
    expect([a.outcome, b.outcome]).toEqual(Array(2).fill('the connection to a:1, b:2 was lost'))
    const later = use()
    await settled()
    expect(later.outcome).toBe('not connected to a:1, b:2')
  })

  test('it is used again after it has reconnected, with the limit of that server', async () => {
    const { use, connected, limits } = setup()
    const client = await connected()
    await client.say({ type: 'disconnect' })
    client.info.max_payload = 500
    await client.say({ type: 'reconnect' })
    const later = use()
    await settled()
    expect([later.outcome, limits]).toEqual(['reply', [1_000, 500]])
  })

  test('why the servers refuse it is the reason of later failures, until it has reconnected', async () => {
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
    expect(last.outcome).toBe('not connected to a:1, b:2')
  })

  test('a subject that is not permitted is no reason for the connection', async () => {
    const { use, connected } = setup()
    const client = await connected()
    await client.say({ type: 'error', error: Object.assign(new Error('x'), { name: 'PermissionViolationError' }) })
    await client.say({ type: 'disconnect' })
    const used = use()
    await settled()
    expect(used.outcome).toBe('not connected to a:1, b:2')
  })

  test('its end fails what waits, and the next batch opens another one', async () => {
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
  test('that is ended does not wait for its reply, and one that was ended before sends nothing', async () => {
    const { use, connected, attempts } = setup()
    const ended = use(pending, AbortSignal.abort())
    await settled()
    expect([ended.outcome, attempts.length]).toEqual(['the attempt was ended', 0])
    await connected()
    const ending = new AbortController()
    const used = use(pending, ending.signal)
    await settled()
    ending.abort()
    await settled()
    expect(used.outcome).toBe('the attempt was ended')
  })

  test('whose reply fails has that error', async () => {
    const { use, connected } = setup()
    await connected()
    const used = use(() => Promise.reject(new Error('no responders')))
    await settled()
    expect(used.outcome).toBe('no responders')
  })
})

describe('where it keeps the process alive', () => {
  test('it is closed after the idle time, which a batch begins anew, and opened by the next one', async () => {
    const { use, connected, clock, attempts } = setup({ idleMs: 1_000 })
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

  test('what one says while it is being closed does not concern the next one', async () => {
    const { use, connected, clock } = setup({ idleMs: 1_000 })
    const client = await connected()
    client.close = () => new Promise(() => {})
    await clock.advance(1_000)
    await connected()
    const waiting = use(pending)
    await settled()
    await client.say({ type: 'disconnect' })
    expect(waiting.outcome).toBeUndefined()
  })

  test('it is not closed while a batch waits, and at once after a failure, since the server may hang', async () => {
    const { use, connected, clock } = setup({ idleMs: 1_000 })
    const client = await connected()
    const ending = new AbortController()
    use(pending, ending.signal)
    await clock.advance(60_000)
    expect(client.closes).toBe(0)
    ending.abort()
    await clock.advance(0)
    expect(client.closes).toBe(1)
  })

  test('elsewhere it stays open', async () => {
    const { connected, clock } = setup()
    const client = await connected()
    await clock.advance(3_600_000)
    expect([client.closes, clock.timers]).toEqual([0, 0])
  })
})

describe('close', () => {
  test('ends it, and what waits; nothing is opened any more', async () => {
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
    'does not wait for an attempt, and closes what it opens later (sockets are noted: %s)',
    async (holdsProcess) => {
      const { use, connection, attempts, clock } = setup({ holdsProcess })
      const waiting = use()
      await connection.close()
      const late = new FakeClient()
      attempts[0]?.succeed(late)
      await settled()
      expect([waiting.outcome, late.closes, clock.timers]).toEqual(['the connection was closed', 1, 0])
    },
  )

  test('without a connection', async () => {
    const { connection } = setup()
    await expect(connection.close()).resolves.toBeUndefined()
  })
})
