/** The feed of `tail` at moments that a process meets by chance only. */
import { Readable } from 'node:stream'
import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Feed } from '../../src/cli/tail/feed.js'
import { AnswerError } from '../../src/cli/tail/local-service.js'
import type { Query } from '../../src/cli/tail/local-service.js'
import { eventText } from '../../src/service/event-stream.js'
import { until } from '../service/support.js'

interface Asked {
  readonly query: Query
  readonly lastEventId: string | undefined
}

/** Each stream as text that then stays open, or the error in its place. */
function feed({ runs, streams, newest = 7 }: { readonly runs: readonly string[], readonly streams: readonly (string | Error)[], readonly newest?: number }) {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  const asked: Asked[] = []
  const told: string[] = []
  const shown: number[] = []
  const delays: number[] = []
  let starts = 0
  const service = {
    origin: 'http://127.0.0.1:4319',
    json: <T>(path: string): Promise<T> => Promise.resolve((path === 'status' ? { started_at: runs[Math.min(starts++, runs.length - 1)], db_file: null } : { items: [{ seq: newest }] }) as T),
    stream: (query: Query, lastEventId: string | undefined): Promise<IncomingMessage> => {
      asked.push({ query, lastEventId })
      const next = streams[asked.length - 1] ?? ''
      if (next instanceof Error) return Promise.reject(next)
      const stream = new Readable({ read: () => {} })
      if (next !== '') stream.push(next)
      // The last one stays.
      if (asked.length < streams.length) stream.push(null)
      return Promise.resolve(stream as IncomingMessage)
    },
  }
  const clock = {
    now: () => 0, wallNow: () => 0,
    timer: (delayMs: number, fire: () => void) => {
      delays.push(delayMs)
      const timer = setImmediate(fire)
      return () => clearImmediate(timer)
    },
  }
  const running = new Feed({
    service, filters: { level: 'error' }, lines: 0, isWhole: false, clock, random: () => 0.999, signal: ended.signal, renewToken: () => false,
    onEntries: (entries) => Promise.resolve(void shown.push(...entries.map(({ seq }) => seq))), tell: (message) => told.push(message),
  }).run()
  return { asked, told, shown, delays, running, end: () => ended.abort() }
}

function entriesEvent(seq: number): string {
  return eventText({ event: 'entries', data: { items: [{ seq }], skipped: 0 }, id: seq })
}

test('a service that is gone before there was a stream, and comes back without what it had: from its beginning', async () => {
  const { asked, told } = feed({ runs: ['first', 'second'], streams: [new Error('ECONNREFUSED'), ''] })
  await until(() => asked.length === 2)
  expect(asked).toEqual([{ query: { level: 'error', after: 7 }, lastEventId: undefined }, { query: { level: 'error', after: 0 }, lastEventId: undefined }])
  await until(() => told.length === 3)
  expect(told).toEqual([
    'http://127.0.0.1:4319 is not there (ECONNREFUSED); trying again until it is', 'the service was started again, without what it had', 'connected to http://127.0.0.1:4319',
  ])
})

test('a stream that ends: from where it was, by Last-Event-ID', async () => {
  const { asked, shown } = feed({ runs: ['first'], streams: [entriesEvent(12), entriesEvent(13)] })
  await until(() => shown.length === 2)
  expect(shown).toEqual([12, 13])
  expect(asked[1]).toEqual({ query: { level: 'error' }, lastEventId: '12' })
})

test('tells of an outage once, and waits longer each time, up to 5 s', async () => {
  const refused = new Error('ECONNREFUSED')
  const { asked, told, delays } = feed({ runs: ['first'], streams: [...Array.from({ length: 8 }, () => refused), ''] })
  await until(() => asked.length === 9)
  expect(told.filter((text) => text.includes('is not there'))).toHaveLength(1)
  expect(delays.map((delay) => Math.round(delay / 10) * 10)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
})

test('tries again where the service is busy, and not where the question is wrong', async () => {
  const { asked, running } = feed({ runs: ['first'], streams: [new AnswerError('busy', '32 streams are open'), new AnswerError('refused', 'level must be known')] })
  await expect(running).rejects.toThrow('level must be known')
  expect(asked).toHaveLength(2)
})

test('ends in the middle of a wait', async () => {
  const { asked, running, end } = feed({ runs: ['first'], streams: Array.from({ length: 1_000 }, () => new Error('ECONNREFUSED')) })
  await until(() => asked.length > 2)
  end()
  await running
})
