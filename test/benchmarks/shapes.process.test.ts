/** The records of the benchmarks vary as documented, and each can be counted. */
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { load } from './tools.js'

const { MARK, SHAPES, callsOf, log, sentOf } = await load('tools/shapes')

const written = (shape: string): string[] => {
  const lines: string[] = []
  const logger = pino(
    { level: 'debug', base: { pid: 1, hostname: 'web-1' } },
    { write: (line: string) => void lines.push(line) },
  )
  for (const call of callsOf(shape)) log(logger, call)
  return lines
}

describe.each(Object.keys(SHAPES))('%s', (shape) => {
  const lines = written(shape)

  it('has the mark once in each record, and no service, which the transport adds', () =>
    expect(lines.filter((line) => line.split(MARK).length !== 2 || line.includes('"service":'))).toEqual([]))

  it('has over a thousand different records, the same in each run', () => {
    const bare = (line: string) => line.replace(/"time":\d+/, '')
    expect(new Set(lines.map(bare)).size).toBeGreaterThan(1_000)
    expect(written(shape).map(bare)).toEqual(lines.map(bare))
  })

  it('has some records with non-ASCII characters, and most without', () => {
    const share = lines.filter((line) => /[^\0-\x7f]/.test(line)).length / lines.length
    expect(share).toBeGreaterThan(0.01)
    expect(share).toBeLessThan(0.2)
  })
})

it('all shapes together have records from 100 bytes to 8 kB', () => {
  const sizes = Object.keys(SHAPES).flatMap((shape) => written(shape).map((line) => Buffer.byteLength(line)))
  expect(Math.min(...sizes)).toBeLessThan(110)
  expect(Math.max(...sizes)).toBeGreaterThan(8_000)
})

it('the mix has 9 of 100 records below the sent level, and one error', () => {
  const calls = callsOf('mix')
  const share = (level: string) => calls.filter((call: { level: string }) => call.level === level).length / calls.length
  expect(share('debug')).toBe(0.09)
  expect(calls.filter(({ object }: { object: Record<string, unknown> }) => object['err'] !== undefined).length).toBe(
    calls.length / 100,
  )
  expect(sentOf(calls, 150_000)).toBe(136_500)
  expect(sentOf(calls, 100)).toBe(91)
})
