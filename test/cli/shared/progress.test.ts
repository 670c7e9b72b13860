/** Progress of `send` and `spool replay`. */
import { describe, expect, test } from 'vitest'
import { ProgressPrinter, formatProgress } from '../../../src/cli/shared/progress.js'
import type { Progress } from '../../../src/cli/shared/progress.js'
import { FakeClock } from '../../fake-clock.js'

const half: Progress = {
  label: 'app.log',
  done: 450_000_000,
  total: 1_000_000_000,
  entries: 1_234_567,
  entriesPerSecond: 38_120.4,
  secondsLeft: 44.3,
  failure: undefined,
}

describe('progress', () => {
  test('a bar fits into one line and has no control characters', () => {
    for (let columns = 0; columns <= 130; columns += 1) {
      for (const progress of [
        half,
        { ...half, label: 'x'.repeat(200) },
        { ...half, failure: 'refused '.repeat(30) },
        { ...half, total: undefined },
      ]) {
        expect(formatProgress(progress, columns).length).toBeLessThanOrEqual(Math.max(columns - 1, 1))
      }
    }
    expect(formatProgress(half, 100)).toMatch(/^\[=========           \] app\.log 45%/)
    expect(formatProgress({ ...half, label: 'a\u001b[31m', failure: 'b\nc\u009b' }, 120)).not.toMatch(
      /[\u0000-\u001f\u009b]/,
    )
  })
})

describe('the printer', () => {
  function printerIn(
    mode: 'bar' | 'lines' | 'json',
    progress = half,
  ): { clock: FakeClock; printer: ProgressPrinter; written: () => string } {
    const clock = new FakeClock()
    let text = ''
    const printer = new ProgressPrinter({
      out: { columns: 100, write: (more: string) => void (text += more) },
      clock,
      mode,
      command: 'send',
    })
    printer.start(() => progress)
    return { clock, printer, written: () => text }
  }

  test('draws a bar several times a second, and removes it for messages and at the end', async () => {
    const { clock, printer, written } = printerIn('bar')
    await clock.advance(450)
    const bar = `\r\u001b[K${formatProgress(half, 100)}`
    expect(written()).toBe(bar + bar)
    printer.message('the service\nis down')
    expect(written()).toBe(`${bar}${bar}\r\u001b[Kpino-ingest send: the service\\nis down\n`)
    await clock.advance(200)
    printer.close()
    expect(written().endsWith('\r\u001b[K')).toBe(true)
    expect(clock.timers).toBe(0)
  })

  test('writes a line every 5 s, during an outage every 60 s', async () => {
    const usual = printerIn('lines')
    await usual.clock.advance(11_000)
    expect(usual.written()).toBe(`pino-ingest send: ${formatProgress(half)}\n`.repeat(2))
    const outage = printerIn('lines', { ...half, failure: 'down' })
    await outage.clock.advance(64_000)
    expect(outage.written()).toMatch(/^.*down\n$/)
    await outage.clock.advance(60_000)
    expect(outage.written()).toMatch(/^.*down\n.*down\n$/)
  })

  test('writes JSON lines', async () => {
    const { clock, printer, written } = printerIn('json')
    await clock.advance(5_000)
    printer.message('x')
    const { failure: _, ...known } = half
    const lines = written().trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { event: 'progress', ...known },
      { event: 'message', message: 'x' },
    ])
  })
})
