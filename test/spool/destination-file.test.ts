/** The description of a destination: written by each process that starts, read by the command line. */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readDescription } from '../../src/spool/destination-file.js'
import { nameDestination } from '../../src/spool/spool-root.js'
import { failing, fullAfter } from './disk-faults.js'
import { segmentsBelow } from './disk-image.js'
import { KEY_OF_TESTS, URL_OF_TESTS } from './process-run.js'
import type { ProcessRun } from './process-run.js'
import { useSpoolBench } from './spool-bench.js'

const bench = useSpoolBench()
const { root, destination, begin, kill, close, inject } = bench
const file = join(destination, 'destination')

test('names URL and service, in a private file without the key', () => {
  begin({ service: 'checkout' })
  expect(readDescription(destination)).toEqual({ url: URL_OF_TESTS, service: 'checkout' })
  expect(lstatSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain(KEY_OF_TESTS)
})

test('without a service it names the URL', () => {
  begin()
  expect(readDescription(destination)).toEqual({ url: URL_OF_TESTS })
})

test.each([
  ['https://user:secret@ingest.test/api/v1', 'https://ingest.test/api/v1'],
  ['https://user:se?cr#et@ingest.test/api/v1', 'https://ingest.test/api/v1'],
  ['https://ingest.test/api/v1?token=secret#secret', 'https://ingest.test/api/v1'],
  [`https://ingest.test/${KEY_OF_TESTS}/api/v1`, 'https://ingest.test/***/api/v1'],
  ['nats://b.test:4222,a.test:4222/PINO_INGEST/ingest', 'nats://b.test:4222,a.test:4222/PINO_INGEST/ingest'],
])('%s is stored without credentials', (url, stored) => {
  begin({ url, service: `a ${KEY_OF_TESTS}` })
  expect(readDescription(join(root, nameDestination(url, KEY_OF_TESTS)))).toEqual({ url: stored, service: 'a ***' })
})

test.each([
  ['killed', kill],
  ['closed', close],
])('after a process was %s, the next one names its own service', (_, end) => {
  end(begin({ service: 'a service with a long name' }))
  begin({ service: 'checkout' })
  expect(readDescription(destination)).toEqual({ url: URL_OF_TESTS, service: 'checkout' })
})

test('a folder of an earlier version gets one', () => {
  kill(begin())
  rmSync(file)
  begin()
  expect(readDescription(destination)).toEqual({ url: URL_OF_TESTS })
})

describe('if it cannot be written, the spool works', () => {
  function expectStored(run: ProcessRun): void {
    run.add('{"n":1}')
    run.batcher.seal()
    expect(segmentsBelow(root)).toHaveLength(1)
    expect(run.problems).toEqual([])
  }

  test('since the disk is full', () => {
    inject(fullAfter(0, (path) => path.endsWith('/destination')))
    expectStored(begin())
    expect(readDescription(destination)).toBeUndefined()
  })

  test('since it cannot be opened', () => {
    inject(failing('openSync', ([path]) => (path === file ? 'EACCES' : undefined)))
    expectStored(begin())
    expect(existsSync(file)).toBe(false)
  })

  test('since it is a link, which is not followed', () => {
    const target = join(bench.scratch, 'target')
    writeFileSync(target, 'as it was')
    mkdirSync(destination, { recursive: true, mode: 0o700 })
    symlinkSync(target, file)
    expectStored(begin())
    expect(readFileSync(target, 'utf8')).toBe('as it was')
    expect(readDescription(destination)).toBeUndefined()
  })
})

test.each(['', '{', 'null', '5', '{"url":5}', `{"url":"${'x'.repeat(20_000)}"}`])(
  'unreadable content is ignored: %.20s',
  (content) => {
    kill(begin())
    writeFileSync(file, content)
    expect(readDescription(destination)).toBeUndefined()
    begin()
    expect(readDescription(destination)).toEqual({ url: URL_OF_TESTS })
  },
)
