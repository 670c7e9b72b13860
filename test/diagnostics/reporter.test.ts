import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { Reporter } from '../../src/diagnostics/reporter.js'
import type { EmitEvent, ReporterOptions } from '../../src/diagnostics/reporter.js'
import { FakeClock } from '../fake-clock.js'

const KEY = 'sk_live/9f?>8e?~7d6c+5b4a=3210'

function setup(options: Partial<ReporterOptions> = {}) {
  const clock = new FakeClock()
  const lines: string[] = []
  const events: { name: string; payload: unknown; at: number }[] = []
  const stats: unknown[] = []
  const emit: EmitEvent = (name, payload) => {
    if (name === 'ingest:stats') stats.push(payload)
    else events.push({ name, payload, at: clock.now() })
  }
  const snapshot = () => new Account().snapshot()
  const report = new Reporter({
    clock,
    logTo: 'stderr',
    secrets: [KEY],
    emit,
    snapshot,
    write: (line) => void lines.push(line),
    ...options,
  })
  return { clock, report, lines, events, stats, emit, snapshot }
}

describe('lines', () => {
  test('about rejected entries name the field, and where the entries are', () => {
    const errors = [{ index: 3, code: 'INVALID', field: 'level', message: 'is not one of the levels' }]
    const stored = setup({ rejectedHint: '`npx pino-ingest spool show dead` lists them' })
    stored.report.rejected(2, errors, 'is not one of the levels')
    expect(stored.lines[0]).toMatch(/2 entries: field level: is not one of the levels; .*pino-ingest spool show/)
    expect(stored.events[0]?.payload).toMatchObject({ reason: 'is not one of the levels' })
    const { report, lines } = setup()
    report.rejected(1, errors, 'status 422: logs[3].level: is not one of the levels')
    expect(lines[0]).toMatch(/1 entry: status 422: logs\[3\]\.level: is not .*not kept/)
  })

  test('about entries on disk name the last failure', () => {
    const { report, lines } = setup()
    report.retained(500, 'POST http://x: ECONNREFUSED')
    expect(lines[0]).toMatch(/500 entries .*last failure: POST http:\/\/x: ECONNREFUSED/)
    const other = setup()
    other.report.retained(1)
    expect(other.lines[0]).toMatch(/1 entry .*still in progress.*flush/)
  })

  test('of one kind are written at most every 10 s, with the sum of the counts', async () => {
    const { clock, report, lines } = setup()
    for (let n = 0; n < 500; n++) {
      report.dropped(100, 'buffer', `cause ${n}`)
      await clock.advance(10)
    }
    expect(lines).toEqual(['pino-ingest: dropped 100 entries (buffer): cause 0\n'])
    await clock.advance(5000)
    expect(lines.slice(1)).toEqual([
      'pino-ingest: dropped 49900 entries (buffer): cause 499 (498 more like this since the last line)\n',
    ])
    report.dropped(1, 'buffer', 'again')
    await clock.advance(9999)
    expect(lines).toHaveLength(2)
    await clock.advance(1)
    expect(lines.slice(2)).toEqual(['pino-ingest: dropped 1 entry (buffer): again\n'])
    await clock.advance(30_000)
    expect(lines).toHaveLength(3)
    expect(clock.timers).toBe(0)
  })

  test('are not written when silent; events are emitted', () => {
    const { report, lines, events } = setup({ logTo: 'silent' })
    report.problem('AUTH', 'no')
    report.dropped(1, 'buffer', 'full')
    report.note('recovered', 'well')
    report.flushNow()
    expect(lines).toEqual([])
    expect(events).toHaveLength(2)
  })

  test('stay one line of bounded length for any reply', () => {
    const { report, lines } = setup()
    report.rejected(1, [], `no\r\npino-ingest: forged\u001b[2J\u2028 ${'x'.repeat(10_000)}`)
    expect(lines[0]).toMatch(/^[^\p{Cc}\u2028]*\n$/u)
    expect(lines[0]?.length).toBeLessThan(1100)
  })
})

describe('events', () => {
  test('of one kind are emitted at most once per second, with summed counts and the latest detail', async () => {
    const { clock, report, events } = setup()
    for (let n = 0; n < 35; n++) {
      report.delivered(100, `batch ${n}`)
      await clock.advance(100)
    }
    await clock.advance(10_000)
    expect(events.map(({ at }) => at)).toEqual([0, 1000, 2000, 3000, 4000])
    const payloads = events.map(({ payload }) => payload as { count: number; batchId: string })
    expect(payloads.reduce((sum, { count }) => sum + count, 0)).toBe(3500)
    expect(payloads[0]).toEqual({ count: 100, batchId: 'batch 0' })
    expect(payloads.at(-1)?.batchId).toBe('batch 34')
    expect(clock.timers).toBe(0)
  })

  test('have their documented names and payloads, never the name error', () => {
    const { report, events, stats, snapshot } = setup()
    const errors = [{ index: 3, code: 'VALIDATION_ERROR', field: 'level', message: 'invalid' }]
    report.delivered(2, 'id')
    report.rejected(1, errors, 'invalid')
    report.dropped(5, 'shutdown', 'late')
    report.problem('AUTH', 'refused', 401)
    report.problem('UNAVAILABLE', 'down')
    expect(events.map(({ name, payload }) => [name, payload])).toEqual([
      ['ingest:delivered', { count: 2, batchId: 'id' }],
      ['ingest:rejected', { count: 1, reason: 'invalid', errors }],
      ['ingest:dropped', { count: 5, reason: 'shutdown' }],
      ['ingest:problem', { code: 'AUTH', message: 'refused', status: 401 }],
      ['ingest:problem', { code: 'UNAVAILABLE', message: 'down' }],
    ])
    expect(stats).toEqual([snapshot()])
  })

  test('of drops are separate for each reason', async () => {
    const { clock, report, events } = setup()
    for (let n = 0; n < 3; n++) {
      report.dropped(1, 'buffer', '')
      report.dropped(10, 'shutdown', '')
    }
    await clock.advance(1000)
    expect(events.map(({ payload }) => payload)).toEqual([
      { count: 1, reason: 'buffer' },
      { count: 10, reason: 'shutdown' },
      { count: 2, reason: 'buffer' },
      { count: 20, reason: 'shutdown' },
    ])
  })

  test('with a listener that throws are reported and have no other effect', () => {
    const { report, lines } = setup({
      emit: () => {
        throw new Error(`listener with ${KEY}`)
      },
    })
    report.delivered(1, 'id')
    expect(lines).toEqual(['pino-ingest: a listener of ingest:delivered threw: Error: listener with ***\n'])
  })
})

test('flushNow writes throttled lines and events, and leaves no timer', () => {
  const { clock, report, lines, events } = setup()
  for (let n = 0; n < 3; n++) report.dropped(10, 'buffer', 'full')
  report.flushNow()
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain('dropped 20 entries')
  expect(events.map(({ payload }) => payload)).toEqual([
    { count: 10, reason: 'buffer' },
    { count: 20, reason: 'buffer' },
  ])
  expect(clock.timers).toBe(0)
  report.flushNow()
  expect(lines).toHaveLength(2)
})

test('flushNow emits the newest stats last, even if every event triggers stats', () => {
  const clock = new FakeClock()
  const account = new Account()
  const events: unknown[] = []
  const report: Reporter = new Reporter({
    clock,
    logTo: 'silent',
    secrets: [],
    emit: (name, payload) => events.push([name, payload]),
    snapshot: () => account.snapshot(),
  })
  for (let n = 1; n <= 3; n++) {
    account.received += 1
    account.accepted += 1
    report.delivered(1, `${n}`)
    report.dropped(1, 'buffer', 'full')
  }
  report.flushNow()
  expect(events.at(-1)).toEqual(['ingest:stats', account.snapshot()])
  expect(clock.timers).toBe(0)
})

describe('secrets', () => {
  const forms: Record<string, string> = {
    plain: KEY,
    json: JSON.stringify({ key: `${KEY}"\\` }),
    base64: Buffer.from(KEY).toString('base64'),
    base64url: Buffer.from(KEY).toString('base64url'),
    'URL-encoded': encodeURIComponent(KEY),
    'a part, cut by a limit': `${KEY.slice(0, 17)}…`,
    twice: `${KEY}${KEY}`,
  }

  test.each(Object.entries(forms))('%s appear in no line and no event', (_, text) => {
    const { report, lines, events } = setup()
    report.problem('AUTH', `before ${text} after`, 401)
    report.rejected(1, [{ index: 0, code: text, field: text, message: `no ${text}` }], text)
    report.dropped(1, 'buffer', text)
    report.delivered(1, text)
    report.note('recovered', text)
    report.flushNow()
    const all = JSON.stringify([lines, events])
    for (const start of [KEY, Buffer.from(KEY).toString('base64'), encodeURIComponent(KEY)]) {
      expect(all).not.toContain(start.slice(0, 8))
    }
    expect(all).toContain('before')
    expect(all).toContain('after')
  })

  test('are masked before a line is cut', () => {
    const { report, lines } = setup()
    for (let length = 950; length < 1000; length++) {
      report.note(`${length}`, 'x'.repeat(length) + KEY)
    }
    expect(lines.join('')).not.toContain(KEY.slice(0, 4))
  })
})

describe('by default', () => {
  // Not `vi.mock()`: an earlier test file in the same process may already have loaded the module.
  const writeSync = vi.fn<(...args: unknown[]) => number>()
  beforeEach(() => {
    writeSync.mockReset()
    vi.spyOn(fs, 'writeSync').mockImplementation(writeSync)
    syncBuiltinESMExports()
  })
  afterEach(() => {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  })

  test('writes synchronously to file descriptor 2', () => {
    const { clock, emit, snapshot } = setup()
    writeSync.mockReturnValue(0)
    new Reporter({ clock, emit, logTo: 'stderr', secrets: [], snapshot }).problem('AUTH', 'no')
    expect(writeSync).toHaveBeenCalledWith(2, 'pino-ingest: no\n')
  })

  test.each(['EAGAIN', 'EPIPE', 'EBADF'])('bears %s', (code) => {
    const { clock, emit, events, snapshot } = setup()
    writeSync.mockImplementation(() => {
      throw Object.assign(new Error(code), { code })
    })
    new Reporter({ clock, emit, logTo: 'stderr', secrets: [], snapshot }).problem('AUTH', 'no')
    expect(writeSync).toHaveBeenCalledOnce()
    expect(events).toHaveLength(1)
  })
})
