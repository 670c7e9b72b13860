/** How far `send` is, in numbers and words, without a file or a service. */
import { describe, expect, test } from 'vitest'
import { Meter, barText, lineText, timeText } from '../../src/cli/send/progress.js'
import type { Measured, Progress } from '../../src/cli/send/progress.js'
import { leftOutText, resultData, resultText, totalOf, totalText } from '../../src/cli/send/result.js'
import type { FileResult } from '../../src/cli/send/file-run.js'
import { Screen } from '../../src/cli/send/screen.js'
import { FakeClock } from '../fake-clock.js'

test.each([
  [0, '0:00'],
  [0.2, '0:01'],
  [41, '0:41'],
  [723, '12:03'],
  [3_599.5, '1:00:00'],
  [3_723, '1:02:03'],
  [360_000, '100:00:00'],
])('%d s left', (seconds, text) => expect(timeText(seconds)).toBe(text))

describe('the meter', () => {
  const at = (ms: number, done: number, more: Partial<Measured> = {}): Measured => ({
    at: ms,
    number: 1,
    done,
    entries: done / 100,
    bytes: done,
    ...more,
  })

  test('a steady file', () => {
    const meter = new Meter()
    expect(meter.add(at(0, 0), 10_000)).toEqual({ entriesPerSecond: 0, bytesPerSecond: 0, secondsLeft: undefined })
    expect(meter.add(at(1_000, 1_000), 10_000)).toEqual({
      entriesPerSecond: 10,
      bytesPerSecond: 1_000,
      secondsLeft: undefined,
    })
    expect(meter.add(at(2_000, 2_000), 10_000)).toEqual({ entriesPerSecond: 10, bytesPerSecond: 1_000, secondsLeft: 8 })
  })

  test('counts what was done in this run alone, and what is slow now', () => {
    const meter = new Meter()
    meter.add(at(0, 5_000), 10_000)
    expect(meter.add(at(2_000, 6_000), 10_000).secondsLeft).toBe(8)
    for (let ms = 3_000; ms <= 30_000; ms += 1_000) meter.add(at(ms, 6_000 + (ms - 2_000) / 100), 10_000)
    expect(meter.add(at(31_000, 6_290), 10_000).bytesPerSecond).toBe(10)
  })

  test('without progress nobody knows; a stream has no end; another file begins anew', () => {
    const meter = new Meter()
    meter.add(at(0, 500), 1_000)
    expect(meter.add(at(5_000, 500), 1_000).secondsLeft).toBeUndefined()
    expect(meter.add(at(6_000, 900), undefined)).toMatchObject({ secondsLeft: undefined })
    expect(meter.add(at(7_000, 10, { number: 2 }), 1_000)).toEqual({
      entriesPerSecond: 0,
      bytesPerSecond: 0,
      secondsLeft: undefined,
    })
  })
})

const half: Progress = {
  label: 'app.log',
  done: 450_000_000,
  total: 1_000_000_000,
  entries: 1_234_567,
  entriesPerSecond: 38_120.4,
  bytesPerSecond: 12_400_000,
  secondsLeft: 44.3,
  trouble: undefined,
}

describe('a bar', () => {
  test('says all where there is room', () => {
    expect(barText(half, 120)).toBe(
      'app.log   45% [=============                 ]  429.2 MiB/953.7 MiB  38,120 entries/s  11.8 MiB/s  0:45 left',
    )
  })

  test('leaves out what is less important, and never wraps', () => {
    for (let columns = 0; columns <= 130; columns += 1) {
      for (const progress of [
        half,
        { ...half, label: `/var/log/${'x'.repeat(200)}/app.log` },
        { ...half, trouble: 'refused '.repeat(30) },
        { ...half, total: undefined },
      ]) {
        expect(barText(progress, columns).length).toBeLessThanOrEqual(Math.max(columns - 1, 1))
      }
    }
    expect(barText(half, 80)).toBe('app.log   45% [=========             ]  38,120 entries/s  11.8 MiB/s  0:45 left')
    expect(barText(half, 60)).toContain('0:45 left')
    expect(barText(half, 60)).not.toContain('MiB')
    expect(barText(half, 20)).toMatch(/^app\.log\s+45%/)
  })

  test('shows the end of a long path, and nothing that steers a terminal', () => {
    expect(barText({ ...half, label: `/var/log/${'x'.repeat(200)}/app.log` }, 120)).toMatch(/^…x+\/app\.log /)
    expect(barText({ ...half, label: 'a\u001b[31m', trouble: 'b\nc\u009b' }, 120)).toBe(
      'a\\u001b[31m   45% waiting: b\\nc\\u009b',
    )
  })

  test.each([
    [0, 10, '  0%'],
    [9_999, 10_000, ' 99%'],
    [10, 10, '100%'],
    [11, 10, '100%'],
    [0, 0, '100%'],
  ])('%i of %i', (done, total, text) => {
    expect(barText({ ...half, done, total }, 120)).toContain(text)
  })
})

test('a line for a log', () => {
  expect(lineText(half)).toBe('app.log  45% 1,234,567 entries, 38,120 entries/s, 11.8 MiB/s, 0:45 left')
  expect(lineText({ ...half, total: undefined, secondsLeft: undefined })).toBe(
    'app.log 1,234,567 entries, 38,120 entries/s, 11.8 MiB/s',
  )
  expect(lineText({ ...half, trouble: 'status 503' })).toBe('app.log  45% 1,234,567 entries; waiting for the service')
})

describe('the screen', () => {
  function screenOf(
    mode: 'bar' | 'lines' | 'json',
    isQuiet = false,
    progress = half,
  ): { clock: FakeClock; screen: Screen; written: () => string } {
    const clock = new FakeClock()
    let text = ''
    const out = { isTTY: true, columns: 60, write: (more: string) => void (text += more) }
    const screen = new Screen({ out, clock, mode, isQuiet, progress: () => progress })
    return { clock, screen, written: () => text }
  }

  test('a bar is drawn anew, and gives way to messages', async () => {
    const { clock, screen, written } = screenOf('bar')
    await clock.advance(450)
    const bar = `\r\u001b[K${barText(half, 60)}`
    expect(written()).toBe(bar + bar)
    screen.tell('the service\nis down')
    expect(written()).toBe(`${bar}${bar}\r\u001b[Kpino-ingest send: the service\\nis down\n${bar}`)
    screen.close()
    expect(written().endsWith('\r\u001b[K')).toBe(true)
    expect(clock.timers).toBe(0)
  })

  test('lines come every few seconds', async () => {
    const { clock, screen, written } = screenOf('lines')
    await clock.advance(11_000)
    expect(written()).toBe(`pino-ingest send: ${lineText(half)}\n`.repeat(2))
    screen.close()
  })

  test('in an outage, which may last for hours, one line a minute', async () => {
    const { clock, screen, written } = screenOf('lines', false, { ...half, trouble: 'down' })
    await clock.advance(125_000)
    expect(written().split('\n')).toHaveLength(3)
    screen.close()
  })

  test('as data', async () => {
    const { clock, screen, written } = screenOf('json')
    await clock.advance(5_000)
    screen.tell('x')
    const { trouble: _, ...known } = half
    expect(
      written()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { event: 'progress', ...known },
      { event: 'message', message: 'x' },
    ])
  })

  test('quiet: messages alone', async () => {
    const { clock, screen, written } = screenOf('bar', true)
    await clock.advance(60_000)
    screen.tell('x')
    expect(written()).toBe('pino-ingest send: x\n')
  })
})

const none = { accepted: 0, rejected: 0, filtered: 0 }
const sent: FileResult = {
  name: 'app.log',
  kind: 'sent',
  accepted: 5_000,
  rejected: 0,
  filtered: 0,
  earlier: none,
  bytes: 1_048_576,
  doneAt: '2026-01-01T00:00:00.000Z',
}

test.each<[FileResult, string]>([
  [sent, 'app.log: sent 5,000 entries (1.0 MiB)'],
  [
    { ...sent, earlier: { ...none, accepted: 300 }, filtered: 12 },
    'app.log: sent 5,000 entries (1.0 MiB), after 300 of an earlier run; left out 12 below info (--level trace sends all)',
  ],
  [
    { ...sent, rejected: 1, rejectedPath: '/state/x' },
    'app.log: sent 5,000 entries (1.0 MiB); the service rejected 1 entry, kept with the reasons in /state/x',
  ],
  [
    { ...sent, kind: 'interrupted' },
    'app.log: sent 5,000 entries (1.0 MiB); interrupted; run the same command to go on',
  ],
  [
    { ...sent, kind: 'interrupted', name: '-' },
    'stdin: sent 5,000 entries (1.0 MiB); interrupted; what was not sent is lost, since stdin cannot be read again',
  ],
  [{ ...sent, kind: 'failed', reason: 'no' }, 'app.log: sent 5,000 entries (1.0 MiB); failed: no'],
  [
    { ...sent, ...none, kind: 'already', earlier: { ...none, accepted: 5_000 } },
    'app.log: already sent (5,000 entries, 2026-01-01T00:00:00.000Z); --restart sends it again',
  ],
])('result %#', (result, text) => expect(resultText(result, leftOutText({ level: 'info' }))).toBe(text))

test('what is left out has its reason', () => {
  expect(leftOutText({ level: 'warn' })).toBe('below warn (--level trace sends all)')
  expect(leftOutText({ level: 'info', sample: { debug: 0.1 }, beforeSend: './x.mjs' })).toBe(
    'as configured (level info, sample, beforeSend)',
  )
})

test('the total, and data', () => {
  const total = totalOf([sent, { ...sent, kind: 'failed', rejected: 10 }], 3, 2_500)
  expect(total).toEqual({ files: 3, complete: 1, accepted: 10_000, rejected: 10, filtered: 0, seconds: 2.5 })
  expect(totalText(total)).toBe('1 of 3 files complete: 10,000 entries sent in 2.5 s, 4,004 entries/s')
  expect(resultData(sent)).toEqual({
    file: 'app.log',
    result: 'sent',
    accepted: 5_000,
    rejected: 0,
    filtered: 0,
    bytes: 1_048_576,
    earlier: none,
    doneAt: sent.doneAt,
    reason: null,
    rejectedPath: null,
  })
})
