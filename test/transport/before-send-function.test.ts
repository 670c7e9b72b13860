/** `beforeSend` as a function: `ingestStream()` calls it. A worker, which cannot receive a function, rejects it. */
import { once } from 'node:events'
import pino from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ingestOptions, ingestStream } from '../../src/index.js'
import type { BeforeSend, IngestEvents, LogEntry } from '../../src/index.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'

let service: IngestService
beforeEach(async () => {
  service = await createIngestService({ apiKeys: ['hook-key'] })
})
afterEach(() => service.close())

async function run(beforeSend: BeforeSend): Promise<{ entries: LogEntry[]; problems: string[] }> {
  const stream = ingestStream({ url: service.url, apiKey: 'hook-key', spool: false, logTo: 'silent', beforeSend })
  const problems: string[] = []
  stream.on('ingest:problem', ({ message }: IngestEvents['ingest:problem']) => problems.push(message))
  const logger = pino(stream)
  logger.info({ user: { id: 'u', email: 'jane@example.com' } }, 'first')
  logger.info('second')
  stream.end()
  await once(stream, 'close')
  return { entries: service.entries().items.map(({ entry }) => entry), problems }
}

test('changes and drops entries as a closure', async () => {
  const seen: string[] = []
  const { entries, problems } = await run((entry) => {
    seen.push(entry.message)
    if (entry.message === 'second') return null
    delete entry.user?.email
    return { ...entry, tags: ['seen'] }
  })
  expect(seen).toEqual(['first', 'second'])
  expect(entries).toMatchObject([{ message: 'first', tags: ['seen'], user: { id: 'u' } }])
  expect(entries[0]?.user).not.toHaveProperty('email')
  expect(problems).toEqual([])
})

test.each<[string, (entry: LogEntry) => unknown]>([
  [
    'throws, after it has changed the entry',
    (entry) => {
      entry.message = 'changed'
      throw new Error('boom')
    },
  ],
  ['rejects', () => Promise.reject(new Error('boom'))],
  ['is a class', Map as unknown as BeforeSend],
])('a function that %s loses no entry', async (_, beforeSend) => {
  const { entries, problems } = await run(beforeSend as BeforeSend)
  expect(entries.map(({ message }) => message).toSorted()).toEqual(['first', 'second'])
  expect(problems[0]).toContain('beforeSend')
})

test('changing the entry after the return has no effect', async () => {
  const kept: LogEntry[] = []
  const { entries } = await run((entry) => {
    for (const one of kept) one.message = 'changed later'
    kept.push(entry)
    return entry
  })
  expect(entries.map(({ message }) => message).toSorted()).toEqual(['first', 'second'])
})

test('ingestOptions() rejects a function for a worker, and says what to do', () => {
  const options = { url: service.url, apiKey: 'hook-key', beforeSend: (entry: LogEntry) => entry }
  const words = /beforeSend is a function, which cannot be passed to pino's worker: .*ingestStream\(\)/
  const ours = { target: 'pino-ingest', options }
  for (const transport of [ours, { targets: [ours] }, { pipeline: [ours] }])
    expect(() => ingestOptions({ transport })).toThrow(words)
})

test('a function that logs does not end the process', async () => {
  const later = vi.fn<() => void>()
  let logs = 0
  const stream = ingestStream({
    url: service.url,
    apiKey: 'hook-key',
    spool: false,
    logTo: 'silent',
    beforeSend: (entry) => {
      if (logs++ < 3) logger.info('from the hook')
      later()
      return entry
    },
  })
  const logger = pino(stream)
  logger.info('outer')
  await vi.waitFor(() => expect(later).toHaveBeenCalledTimes(4), { timeout: 30_000 })
  stream.end()
  await once(stream, 'close')
  expect(
    service
      .entries()
      .items.map(({ entry }) => entry.message)
      .toSorted(),
  ).toEqual(['from the hook', 'from the hook', 'from the hook', 'outer'])
})
