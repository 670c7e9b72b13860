/** `pino-ingest dev` without a program. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ArrivalsPrinter } from '../../../src/cli/dev/arrivals-printer.js'
import { formatStarted } from '../../../src/cli/dev/dev-format.js'
import { createRecordFormat } from '../../../src/cli/local/record-line.js'
import { parseDurationMs, parseBytes, parseInteger } from '../../../src/cli/shared/quantities.js'
import { PLAIN } from '../../../src/cli/shared/terminal.js'
import { findTokenFile } from '../../../src/cli/shared/token-store.js'
import type { Stored } from '../../../src/service/store/stored-record.js'
import { scratch } from '../../client/release/clones.js'
import { FakeClock } from '../../fake-clock.js'
import { call, entryOf, requestLog, until } from '../../service/support.js'
import { devEnv, entriesAt, send, startJson, startText } from '../dev-started.js'
import { runCli } from '../run-cli.js'

describe('dev', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it with 0; with --json it prints one line', async (signal) => {
    const { running, started } = await startJson()
    expect(await send(started.url, entryOf())).toMatchObject({ status: 200 })
    expect(started.page_url).toBe(`${started.origin}/#token=${started.token}`)
    running.child.kill(signal)
    const result = await running.done
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout.toString().split('\n')).toHaveLength(2)
  })

  test('prints the page address on its own line, the URL and how to connect an application, then one line per entry', async () => {
    const { running, url, origin, token } = await startText(['--utc'])
    expect(running.said()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{22}$/m)
    expect(running.said()).toContain("pino(ingestOptions({ service: 'checkout' }))")
    expect(running.said()).toContain(`\n  export PINO_INGEST_URL=${url}\n`)
    expect(running.said()).not.toContain('pino-ingest dev --')
    expect(running.said()).toContain(`npx pino-ingest tail --url ${origin} `)
    const [, header = '', query = ''] = /curl -H '(.+)' '(.+)'/.exec(running.said()) ?? []
    expect(query).toBe(`${origin}/local/entries?level=error,fatal`)
    expect(await call(query, { method: 'GET', headers: { authorization: header.split(': ')[1] ?? '' } })).toMatchObject(
      { status: 200 },
    )
    await send(
      url,
      entryOf({ message: 'forged\nline \u001b[2J', service: 'shop\u202e', level: 'warn' }),
      entryOf({ message: 'second' }),
    )
    await until(() => running.said().includes('second'))
    expect(running.said()).toContain(
      '\n2026-01-31 08:00:00.000 warn  shop\\u202e forged\\nline \\u001b[2J\n2026-01-31 08:00:00.000 info  -          second\n',
    )
    expect(await entriesAt({ origin, token })).toHaveLength(2)
    running.child.kill('SIGINT')
    expect(await running.done).toMatchObject({ code: 0, stderr: '' })
  })

  test('prints other records and rejections', async () => {
    const { running, url } = await startText()
    await call(`${url}/ingest/requests`, {
      body: { requests: [{ ...requestLog, path: '/cart\u001b[2J', status_code: 503 }] },
    })
    await call(`${url}/feedback`, { body: { event_id: 'e-1', comments: 'It\nbroke' } })
    await call(`${url}/releases/register`, { body: { version: '1.4.0' } })
    await call(`${url}/heartbeat/some-token`)
    await send(url, entryOf({ message: 'last' }), { ...entryOf(), level: 'loud' })
    await until(() => running.said().includes('rejected'))
    const lines = running
      .said()
      .split('\n')
      .filter((line) => /^(?:\d{4}-\d\d-\d\d )?\d\d:/.test(line))
      .map((line) => line.replace(/^.*?\d\.\d{3} /, ''))
      .toSorted()
    expect(lines).toEqual([
      'feedback somebody on e-1: It\\nbroke',
      expect.stringMatching(/^heartbeat of monitor [0-9a-f]{12}$/),
      'http  - GET /cart\\u001b[2J 503 1.5 ms',
      'info  - last',
      expect.stringMatching(/^rejected ingest 422, 1 of 2: logs\.1\.level must be one of/),
      expect.stringMatching(/^release 1\.4\.0 is rel_\w+$/),
    ])
    expect(running.said()).not.toContain('some-token')
  })

  test('--quiet prints no records', async () => {
    const { running, url } = await startText(['--quiet'])
    expect(await send(url, entryOf({ message: 'unseen' }))).toMatchObject({ status: 200 })
    running.child.kill('SIGTERM')
    expect((await running.done).stdout.toString()).not.toContain('unseen')
  })

  test('continues when its output is not read', async () => {
    const { running, started } = await startJson()
    running.child.stdout.destroy()
    const { running: shown, url } = await startText()
    shown.child.stdout.destroy()
    for (const at of [started.url, url, url]) {
      expect(await send(at, entryOf())).toMatchObject({ status: 200 })
    }
    shown.child.kill('SIGINT')
    expect(await shown.done).toMatchObject({ code: 0, stderr: '' })
  })

  test('skips records if the output is read too slowly, and reports how many', async () => {
    const { running, url } = await startText()
    running.child.stdout.pause()
    const batch = Array.from({ length: 100 }, () => entryOf({ message: 'x'.repeat(400) }))
    const sent = 6_000
    for (let count = 0; count < sent; count += batch.length) await send(url, ...batch)
    running.child.stdout.resume()
    await until(() => running.said().includes('records skipped'))
    const left = Number(/… (\d+) records skipped/.exec(running.said())?.[1])
    expect(left).toBeGreaterThan(0)
    expect(
      running
        .said()
        .split('\n')
        .filter((line) => line.endsWith('x')),
    ).toHaveLength(sent - left)
    await send(url, entryOf({ message: 'shown again' }))
    await until(() => running.said().includes('shown again'))
  })

  test('a port that is in use: the message says which and what to do, exit 1', async () => {
    const { started } = await startJson()
    const port = String(started.port)
    const text = await runCli(['dev', '--port', port], devEnv())
    expect(text).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
    expect(text.stderr).toMatch(new RegExp(`port ${port} .* in use.*--port`))
    const json = await runCli(['dev', '--json', '--port', port], devEnv())
    expect(json).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'PORT' } })
  })

  test('--db stores received records', async () => {
    const file = join(scratch(), 'kept.ndjson')
    const first = await startText(['--db', file])
    expect(first.running.said()).toContain('ingestOptions(')
    await send(first.url, entryOf({ message: 'kept' }))
    first.running.child.kill('SIGTERM')
    expect((await first.running.done).code).toBe(0)
    const second = await startText(['--db', file])
    expect(second.running.said()).toContain('1 entry stored')
    expect(second.running.said()).toContain(`export PINO_INGEST_URL=${second.url}`)
    expect(second.running.said()).not.toContain('ingestOptions(')
    second.running.child.kill('SIGTERM')
    await second.running.done
    const { started } = await startJson(['--db', file])
    expect(started.arrived).toBe(1)
    expect(await entriesAt(started)).toMatchObject([{ entry: { message: 'kept' } }])
  })

  test('a file that cannot be used: exit 1', async () => {
    const result = await runCli(['dev', '--port', '0', '--db', '/dev/null/kept'], devEnv())
    expect(result.code).toBe(1)
    expect(result.stderr).toContain('/dev/null/kept')
  })

  test('stores no more than --max-entries, --max-bytes and --max-age allow', async () => {
    const { started } = await startJson(['--max-entries', '2', '--max-bytes', '1mb', '--max-age', '1w'])
    await send(started.url, ...['1', '2', '3'].map((message) => entryOf({ message })))
    expect(await entriesAt(started)).toMatchObject([{ entry: { message: '3' } }, { entry: { message: '2' } }])
    const status = await call(`${started.origin}/local/status`, {
      method: 'GET',
      headers: { authorization: `Bearer ${started.token}` },
    })
    expect(status.json.limits).toEqual({ max_entries: 2, max_bytes: 2 ** 20, max_age_ms: 7 * 86_400_000 })
  })
})

test.runIf(process.platform === 'linux')(
  '--open passes the browser a file of this user that redirects to the page, and reports a failure',
  async () => {
    const folder = scratch()
    const browser = join(folder, 'xdg-open')
    writeFileSync(browser, `#!/bin/sh\necho "$*" > ${folder}/opened; exit 3\n`, { mode: 0o755 })
    const env = { ...devEnv(), PATH: `${folder}:${process.env['PATH']}` }
    const { running, started } = await startJson(['--open'], env)
    await until(() => running.said().includes('xdg-open exited with 3'), 20_000)
    const opened = readFileSync(join(folder, 'opened'), 'utf8').trim()
    expect([opened, running.said().split('\n')[1]]).not.toContain(started.token)
    expect(statSync(opened).mode & 0o777).toBe(0o600)
    expect(readFileSync(opened, 'utf8')).toContain(`content="0;url=${started.page_url}"`)
    running.child.kill('SIGTERM')
    await running.done
    expect(existsSync(opened)).toBe(false)
  },
)

describe('--load', () => {
  test("opens what tail and query print as JSON, and the export, again; the application's options do not matter", async () => {
    const first = await startJson()
    const entries = ['one', 'two'].map((message) =>
      entryOf({
        message,
        level: 'debug',
        service: 'shop',
        user: { id: 'u' },
        tags: ['a'],
        metadata: { n: { deep: [1] } },
      }),
    )
    await send(first.started.url, ...entries)
    const env = { PINO_INGEST_DEV_TOKEN: first.started.token }
    const { stdout } = await runCli(['query', '--json', '--url', first.started.origin], env)
    const { text } = await call(`${first.started.origin}/local/export?token=${first.started.token}`, { method: 'GET' })
    const application = {
      PINO_INGEST_API_KEY: 'a-real-key',
      PINO_INGEST_SAMPLE: '{"debug":0}',
      PINO_INGEST_TAGS: 'added',
      OTEL_RESOURCE_ATTRIBUTES: 'host.name=added',
    }
    for (const lines of [stdout.toString(), text]) {
      const file = join(scratch(), 'session.ndjson')
      writeFileSync(file, lines)
      const { running, started } = await startJson(['--load', file], { ...devEnv(), ...application })
      expect(started.arrived).toBe(2)
      const loaded = await entriesAt(started)
      expect(loaded.map(({ entry }) => entry).toSorted(byMessage)).toEqual(entries)
      running.child.kill('SIGTERM')
      expect(await running.done).toMatchObject({ code: 0, stderr: '' })
    }
  })

  const entry = '{"id":"ent_1","seq":1,"received_at":"","batch_id":null,"entry":{"level":"info","message":"m"}}'
  test.each([
    ['no file', undefined],
    ['a page of the API', `{"items":[${entry}],"next":null}`],
    ['an array of entries', `[\n ${entry}\n]`],
  ])('%s: exit 1', async (_, content) => {
    const file = join(scratch(), 'session.ndjson')
    if (content !== undefined) writeFileSync(file, content)
    const { code, stderr } = await runCli(['dev', '--port', '0', '--load', file], devEnv())
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(file) as string })
  })
})

function byMessage(one: Record<string, unknown>, other: Record<string, unknown>): number {
  return String(one['message']) < String(other['message']) ? -1 : 1
}

describe('bad usage: exit 2, and no token is created', () => {
  test.each([
    [['--max-entries', '0'], '--max-entries must be an integer from 1'],
    [['--max-bytes', '256'], '--max-bytes must be a size like 256mb or 1gb, got "256"; the units are b, kb, mb, gb'],
    [['--show'], '--show needs a program after --'],
    [['--show', '--json', '--', 'true'], '--show and --json cannot be combined'],
    [['node', 'app.js'], 'unexpected argument (not shown); put the program after --'],
    [['--'], 'no program after --'],
  ])('%j', async (args, message) => {
    const env = devEnv()
    const { code, stdout, stderr } = await runCli(['dev', ...args], env)
    expect({ code, said: stdout.toString() + stderr }).toMatchObject({
      code: 2,
      said: expect.stringContaining(message) as string,
    })
    expect(existsSync(findTokenFile(env))).toBe(false)
  })
})

test('tail needs no address if the service uses its default port', () => {
  const origin = 'http://127.0.0.1:4319'
  const service = { url: `${origin}/api/v1`, origin, arrived: 0, token: 't', pageUrl: 'p' }
  expect(formatStarted({ ...service, port: 4319 }, {})).not.toContain('--url')
  expect(formatStarted({ ...service, port: 4320 }, {})).toContain('--url')
})

test('sizes and ages', () => {
  expect([parseBytes('f', '1kb'), parseBytes('f', '1.5MB'), parseBytes('f', '2 gb'), parseBytes('f', '7b')]).toEqual([
    1024,
    1.5 * 2 ** 20,
    2 ** 31,
    7,
  ])
  expect([
    parseDurationMs('f', '90s'),
    parseDurationMs('f', '30m'),
    parseDurationMs('f', '12h'),
    parseDurationMs('f', '7d'),
    parseDurationMs('f', '1w'),
  ]).toEqual([90_000, 1_800_000, 43_200_000, 604_800_000, 604_800_000])
  for (const wrong of ['', '1', 'mb', '-1mb', '0mb', '1tb', '1e3mb', '999999999999gb', '1constructor'])
    expect(() => parseBytes('f', wrong)).toThrow('--f must be')
  expect(parseInteger('f', '10', 0, 10)).toBe(10)
  for (const wrong of ['', '11', '1.5', '-1', 'x'])
    expect(() => parseInteger('f', wrong, 0, 10)).toThrow('--f must be an integer from 0 to 10')
})

function createPrinter(isTTY: boolean, clock = new FakeClock()) {
  let text = ''
  const write = (part: string): string => (text += part)
  const out = { isTTY, writableLength: 0, destroyed: false, write, once: () => {} }
  const { print } = new ArrivalsPrinter(out, createRecordFormat(PLAIN, true), clock)
  return { print, text: () => text }
}

test('on a terminal, prints at most 1,000 lines per second, since terminal output blocks', async () => {
  const clock = new FakeClock()
  const { print, text } = createPrinter(true, clock)
  const stored = { id: '', seq: 1, received_at: '', batch_id: null, entry: entryOf() }
  const batch = Array.from({ length: 100 }, () => stored)
  for (let count = 0; count < 15; count += 1) print('entry', batch)
  expect(text().split('\n')).toHaveLength(1_001)
  await clock.advance(999)
  expect(text()).not.toContain('skipped')
  await clock.advance(1)
  expect(text()).toMatch(/\n… 500 records skipped.*\n$/)
  print('entry', batch)
  expect(text().split('\n')).toHaveLength(1_102)
  expect(clock.timers).toBe(0)
})

test('a request that was logged at its start and end, and sent as a request log, is one line; an error is another', () => {
  const { print, text } = createPrinter(false)
  const { method, path, status_code, duration_ms } = requestLog
  const ended = { method, path, status_code, duration_ms }
  const stored = { id: '', seq: 1, received_at: '', batch_id: null }
  const entry = (change: object): void => print('entry', [{ ...stored, entry: entryOf(change) } as Stored])
  const log = (): void => print('request', [{ ...stored, request: requestLog } as Stored])
  const lines = (): number => text().split('\n').length - 1
  entry({ message: 'incoming request', request: { method, path } })
  entry({ message: 'request completed', request: ended })
  log()
  expect(lines()).toBe(1)
  log()
  entry({ message: 'request completed', request: ended })
  expect(lines()).toBe(2)
  entry({ message: 'request completed', request: ended })
  entry({ message: 'request completed', request: ended })
  entry({ message: 'request errored', request: ended, error: { type: 'E' } })
  entry({ message: 'incoming request' })
  expect(lines()).toBe(6)
})
