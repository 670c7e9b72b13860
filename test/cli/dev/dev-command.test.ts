/** `pino-ingest dev` without a program. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ArrivalsPrinter } from '../../../src/cli/dev/arrivals-printer.js'
import { createRecordFormat } from '../../../src/cli/local/record-line.js'
import { PLAIN } from '../../../src/cli/shared/terminal.js'
import { findTokenFile } from '../../../src/cli/shared/token-store.js'
import type { Stored } from '../../../src/service/store/stored-record.js'
import { scratch } from '../../client/release/clones.js'
import { FakeClock } from '../../fake-clock.js'
import { call, entryOf, requestLog, started as startedService, until } from '../../service/support.js'
import { devEnv, entriesAt, send } from '../dev-started.js'
import type { Started } from '../dev-started.js'
import type { CliEnv } from '../run-cli.js'
import { runInProcess, startInProcess } from '../run-in-process.js'
import type { CommandResult, RunningCommand } from '../run-in-process.js'

/** Resolves when the service has started. It ends with the test. */
async function start(args: readonly string[], env: CliEnv = devEnv()): Promise<RunningCommand> {
  const running = startInProcess(['dev', '--port', '0', ...args], env)
  onTestFinished(() => end(running).then(() => {}))
  await until(() => /\}\n|Stored in/.test(running.said()), 20_000)
  return running
}

async function startJson(
  args: readonly string[] = [],
  env?: CliEnv,
): Promise<{ running: RunningCommand; started: Started }> {
  const running = await start(['--json', ...args], env)
  return { running, started: JSON.parse(running.said()) as Started }
}

function end(running: RunningCommand, signal: NodeJS.Signals = 'SIGTERM'): Promise<CommandResult> {
  process.emit(signal)
  return running.done
}

describe('dev', () => {
  test('with --json prints one line, until Ctrl-C', async () => {
    const { running, started } = await startJson()
    expect(await send(started.url, entryOf())).toMatchObject({ status: 200 })
    expect(started.page_url).toBe(`${started.origin}/#token=${started.token}`)
    expect(await end(running, 'SIGINT')).toEqual({ code: 0, out: expect.stringMatching(/^.*\n$/) as string, err: '' })
  })

  test('prints the page address, how to connect an application, then one line per record and rejection', async () => {
    const running = await start(['--utc'])
    const [, origin = '', token = ''] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{22})$/m.exec(running.said()) ?? []
    const url = `${origin}/api/v1`
    expect(running.said()).toContain("pino(ingestOptions({ service: 'checkout' }))")
    expect(running.said()).toContain(`\n  export PINO_INGEST_URL=${url}\n`)
    expect(running.said()).not.toContain('pino-ingest dev --')
    expect(running.said()).toContain(`npx pino-ingest tail --url ${origin} `)
    const [, header = '', query = ''] = /curl -H '(.+)' '(.+)'/.exec(running.said()) ?? []
    expect(query).toBe(`${origin}/local/entries?level=error,fatal`)
    const authorization = header.split(': ')[1] ?? ''
    expect(await call(query, { method: 'GET', headers: { authorization } })).toMatchObject({ status: 200 })
    await send(url, entryOf({ message: 'forged\nline \u001b[2J', service: 'shop\u202e', level: 'warn' }))
    await call(`${url}/ingest/requests`, {
      body: { requests: [{ ...requestLog, path: '/cart\u001b[2J', status_code: 503 }] },
    })
    await call(`${url}/feedback`, { body: { event_id: 'e-1', comments: 'It\nbroke' } })
    await call(`${url}/releases/register`, { body: { version: '1.4.0' } })
    await call(`${url}/heartbeat/some-token`)
    await send(url, entryOf({ message: 'last' }), { ...entryOf(), level: 'loud' })
    await until(() => running.said().includes('rejected'), 20_000)
    const lines = running
      .said()
      .split('\n')
      .filter((line) => /^(?:\d{4}-\d\d-\d\d )?\d\d:/.test(line))
    expect(lines.map((line) => line.replace(/^.*?\d\.\d{3} /, '')).toSorted()).toEqual([
      'feedback somebody on e-1: It\\nbroke',
      expect.stringMatching(/^heartbeat of monitor [0-9a-f]{12}$/),
      expect.stringMatching(/^http +- +GET \/cart\\u001b\[2J 503 1\.5 ms$/),
      expect.stringMatching(/^info +- +last$/),
      expect.stringMatching(/^rejected ingest 422, 1 of 2: logs\.1\.level must be one of/),
      expect.stringMatching(/^release 1\.4\.0 is rel_\w+$/),
      'warn  shop\\u202e forged\\nline \\u001b[2J',
    ])
    expect(running.said()).not.toContain('some-token')
    expect(await entriesAt({ origin, token })).toHaveLength(2)
    expect(await end(running)).toMatchObject({ code: 0, err: '' })
  })

  test('--quiet prints no records', async () => {
    const running = await start(['--quiet'])
    const url = /listens on (\S+) /.exec(running.said())?.[1] ?? ''
    expect(await send(url, entryOf({ message: 'unseen' }))).toMatchObject({ status: 200 })
    expect((await end(running)).out).not.toContain('unseen')
  })

  test('a port that is in use: the message says which and what to do, exit 1', async () => {
    const { port } = await startedService()
    const { code, out, err } = await runInProcess(['dev', '--port', String(port)], devEnv())
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(new RegExp(`port ${port} .* in use.*--port`))])
    const json = await runInProcess(['dev', '--json', '--port', String(port)], devEnv())
    expect([json.code, json.out, JSON.parse(json.err)]).toMatchObject([1, '', { error: { code: 'PORT' } }])
  })

  test('--db stores received records, within the limits', async () => {
    const file = join(scratch(), 'kept.ndjson')
    const first = await startJson(['--db', file])
    await send(first.started.url, ...['one', 'two'].map((message) => entryOf({ message })))
    expect((await end(first.running)).code).toBe(0)
    const second = await start(['--db', file])
    expect(second.said()).toContain('2 entries stored')
    expect(second.said()).not.toContain('ingestOptions(')
    await end(second)
    const { started } = await startJson([
      '--db',
      file,
      '--max-entries',
      '1',
      '--max-bytes',
      '1mb',
      '--max-age',
      '9999d',
    ])
    expect(await entriesAt(started)).toMatchObject([{ entry: { message: 'two' } }])
    const headers = { authorization: `Bearer ${started.token}` }
    const { json } = await call(`${started.origin}/local/status`, { method: 'GET', headers })
    expect(json.limits).toEqual({ max_entries: 1, max_bytes: 2 ** 20, max_age_ms: 9_999 * 86_400_000 })
  })

  test('a file that cannot be used: exit 1', async () => {
    const ran = await runInProcess(['dev', '--port', '0', '--db', '/dev/null/kept'], devEnv())
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('/dev/null/kept') })
  })
})

test.each([
  [['--max-entries', '0'], '--max-entries'],
  [['--max-bytes', '256'], '--max-bytes must be a size like 256mb or 1gb'],
  [['--show'], '--show needs a program after --'],
  [['--show', '--json', '--', 'true'], '--show and --json'],
  [['node', 'app.js'], 'unexpected argument (not shown)'],
  [['--'], 'no program after --'],
])('%j: exit 2, and no token is created', async (args, message) => {
  const env = devEnv()
  const { code, out, err } = await runInProcess(['dev', ...args], env)
  expect([code, out + err]).toEqual([2, expect.stringContaining(message)])
  expect(existsSync(findTokenFile(env))).toBe(false)
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
