/** The page's stream: parsing of chunks, and resuming. */
import { describe, expect, test, vi } from 'vitest'
import { formatEvent } from '../../../../src/service/stream/server-sent-events.js'
import type { RecordKind } from '../../../../src/service/store/stored-record.js'
import { ApiError } from '../../../../src/service/viewer/api-error.js'
import { LiveStream } from '../../../../src/service/viewer/live/live-stream.js'

interface Opened {
  readonly parameters: unknown
  readonly lastId: string | undefined
  readonly signal: AbortSignal
  write(text: string, bytesEach?: number): void
  end(): void
}

/** A mock service; the test writes to its streams and ends its delays. */
function setup() {
  const opened: Opened[] = []
  const changes: RecordKind[] = []
  const waits: { readonly ms: number; readonly end: () => void }[] = []
  /** Timers for silence. */
  const silence = new Set<() => void>()
  const service = { startedAt: 'first', refusal: undefined as Error | undefined, tries: 0, answers: Promise.resolve() }
  const live = new LiveStream({
    open: async (parameters, headers, signal) => {
      service.tries += 1
      if (service.refusal !== undefined) throw service.refusal
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      opened.push({
        parameters,
        signal,
        lastId: headers['last-event-id'],
        write: (text, bytesEach = Infinity) => {
          const bytes = new TextEncoder().encode(text)
          for (let at = 0; at < bytes.length; at += bytesEach) void writer.write(bytes.slice(at, at + bytesEach))
        },
        end: () => void writer.close(),
      })
      return new Response(readable)
    },
    readStatus: async () => {
      await service.answers
      return { started_at: service.startedAt, db_file: null }
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push({ ms, end: resolve })
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
    onChange: (kinds) => changes.push(...kinds),
    later: (_ms, call) => {
      silence.add(call)
      return () => silence.delete(call)
    },
  })
  const nth = async (n: number): Promise<Opened> => {
    await vi.waitFor(() => expect(opened.length).toBeGreaterThan(n), { timeout: 10_000 })
    return opened[n] as Opened
  }
  /** Ends the nth delay once it has started. */
  const goOn = async (n: number): Promise<void> => {
    await vi.waitFor(() => expect(waits.length).toBeGreaterThan(n), { timeout: 10_000 })
    waits[n]?.end()
  }
  return { live, silence, service, opened, changes, waits, nth, goOn }
}

const entries = (seq: number, skipped = 0): string =>
  formatEvent({ event: 'entries', data: { items: [{ id: `e${seq}`, seq, message: 'Größe 😀' }], skipped }, id: seq })

describe('the stream', () => {
  test.each([1, 7, Infinity])('is parsed from chunks of %d bytes', async (bytesEach) => {
    const { live, nth, changes } = setup()
    const got: [number | undefined, string | undefined, number][] = []
    live.follow({
      parameters: {},
      onEntries: ({ items, skipped }) => got.push([items[0]?.seq, items[0]?.message, skipped]),
    })
    const stream = await nth(0)
    stream.write(
      `: hello\n\n${entries(1)}${formatEvent({ event: 'changed', data: { kinds: ['release', 'feedback'] } })}${entries(2, 5)}`,
      bytesEach,
    )
    await vi.waitFor(
      () =>
        expect(got).toEqual([
          [1, 'Größe 😀', 0],
          [2, 'Größe 😀', 5],
        ]),
      { timeout: 10_000 },
    )
    expect(changes).toEqual(['entry', 'release', 'feedback', 'entry'])
  })
})

describe('a stream that ends', () => {
  test('is reopened after the last entry, and reports that records may have been missed', async () => {
    const { live, nth, goOn, changes } = setup()
    live.follow({ parameters: {}, after: 1 })
    const first = await nth(0)
    first.write(entries(7))
    await vi.waitFor(() => expect(changes).toEqual(['entry']), { timeout: 10_000 })
    first.end()
    await goOn(0)
    expect((await nth(1)).lastId).toBe('7')
    await vi.waitFor(() => expect(changes).toContain('rejected'), { timeout: 10_000 })
  })

  test('is retried with growing delays up to a limit, with the reason', async () => {
    const { live, service, waits, nth, goOn } = setup()
    service.refusal = new ApiError(503, 'too many streams')
    live.follow({ parameters: {} })
    for (let attempt = 0; attempt < 6; attempt++) await goOn(attempt)
    await vi.waitFor(() => expect(waits.map(({ ms }) => ms)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]), {
      timeout: 10_000,
    })
    expect(live.state.value).toEqual({ name: 'reconnecting', reason: 'too many streams' })
    service.refusal = undefined
    await goOn(6)
    await nth(0)
    await vi.waitFor(() => expect(live.state.value.name).toBe('live'), { timeout: 10_000 })
  })
})

test('a hidden page closes its connection, and resumes the stream later', async () => {
  const { live, opened, nth, changes } = setup()
  live.follow({ parameters: {}, after: 3 })
  const first = await nth(0)
  first.write(entries(9))
  await vi.waitFor(() => expect(changes).toEqual(['entry']), { timeout: 10_000 })
  live.rest(true)
  expect(first.signal.aborted).toBe(true)
  live.rest(true)
  live.rest(false)
  expect((await nth(1)).lastId).toBe('9')
  expect(opened).toHaveLength(2)
})

test('an open stream without data is reported until data arrive', async () => {
  const { live, nth, silence } = setup()
  live.follow({ parameters: {} })
  const stream = await nth(0)
  stream.write(': hello\n\n')
  await vi.waitFor(() => expect([live.state.value.name, silence.size]).toEqual(['live', 1]), { timeout: 10_000 })
  for (const call of silence) call()
  expect(live.state.value.name).toBe('silent')
  stream.write(': still there\n\n')
  await vi.waitFor(() => expect(live.state.value.name).toBe('live'), { timeout: 10_000 })
  stream.end()
  await vi.waitFor(() => expect(silence.size).toBe(0), { timeout: 10_000 })
})
