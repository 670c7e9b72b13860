/** `pino-ingest tail` with the local service: output, restarts of the service, and errors. */
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { createIngestService } from '../../../src/service/index.js'
import type { IngestService, IngestServiceOptions, StoredEntry } from '../../../src/service/index.js'
import { CHALLENGE_HEADER, createProof } from '../../../src/shared/local-proof.js'
import { httpServer } from '../../client/http-servers.js'
import { scratch } from '../../client/release/clones.js'
import { lastingPort } from '../../reusable-port.mjs'
import { call, entryOf, ingest, started, until } from '../../service/support.js'
import { devEnv } from '../dev-started.js'
import type { CliEnv } from '../run-cli.js'
import { runInProcess, startInProcess } from '../run-in-process.js'
import type { CommandResult, RunningCommand } from '../run-in-process.js'

const TOKEN = 'token-of-the-tests_16'
const ENV: CliEnv = { PINO_INGEST_DEV_TOKEN: TOKEN }

async function service(options: IngestServiceOptions = {}): Promise<IngestService> {
  return await started({ token: TOKEN, port: await lastingPort(), ...options })
}

function tail(
  { origin }: Pick<IngestService, 'origin'>,
  args: readonly string[] = [],
  env: CliEnv = {},
): RunningCommand {
  return startInProcess(['tail', '--utc', '--url', origin, ...args], { ...ENV, ...env })
}

/** Resolves when the output contains the text. */
async function hears(running: RunningCommand, text: string): Promise<void> {
  await until(() => running.said().includes(text), 20_000)
}

const WAITING = 'waiting for entries\n'
const DAY = '2026-01-31'

const OURS = 'Bearer realm="pino-ingest"'

async function ended(running: RunningCommand): Promise<CommandResult> {
  process.emit('SIGINT')
  return running.done
}

describe('prints', () => {
  test('the last stored entries, then new ones in order, until Ctrl-C; only entries on stdout', async () => {
    const at = await service()
    await ingest(
      at,
      ['one', 'two', 'three'].map((message) => entryOf({ message })),
    )
    const running = tail(at, ['-n', '2'])
    await hears(running, WAITING)
    await ingest(at, [
      entryOf({ message: 'four', level: 'error', error: { type: 'E', message: 'm' }, metadata: { orderId: 4711 } }),
    ])
    await ingest(at, [entryOf({ message: 'five' })])
    await hears(running, 'five')
    expect(await ended(running)).toEqual({
      code: 0,
      err: `pino-ingest tail: connected to ${at.origin}, waiting for entries\n`,
      out: ['info  - two', 'info  - three', 'error - E: m · four orderId=4711', 'info  - five']
        .map((line) => `${DAY} 08:00:00.000 ${line}\n`)
        .join(''),
    })
  })

  test('only entries that match all filters, no earlier ones with --lines 0, and none twice', async () => {
    const at = await service()
    const wanted = entryOf({ message: 'wanted', level: 'error', service: 'shop', tags: ['a'] })
    const others = [{ level: 'info' }, { service: 'mail' }, { tags: ['b'] }, { message: 'nothing' }] as const
    const all = [...others.map((other) => ({ ...wanted, ...other })), wanted]
    await ingest(at, all as LogEntry[])
    const running = tail(at, ['-n', '0', 'level:>=error service:shop tag:a -nothing'])
    await hears(running, WAITING)
    await ingest(at, all as LogEntry[])
    await hears(running, 'wanted')
    expect((await ended(running)).out).toBe(`${DAY} 08:00:00.000 error shop wanted\n`)
  })

  test('with --full also stack and metadata, for stored and new entries', async () => {
    const at = await service()
    const entry = (message: string) =>
      entryOf({
        message,
        level: 'error',
        error: { stack: 'E: m\n    at pay (/app/pay.js:1:2)' },
        metadata: { orderId: 1017 },
      })
    await ingest(at, [entry('there')])
    const running = tail(at, ['--full'])
    await hears(running, WAITING)
    await ingest(at, [entry('a'), entryOf({ message: 'b' }), entry('c')])
    await until(() => running.said().split('orderId').length === 7, 20_000)
    const detail = '    E: m\n        at pay (/app/pay.js:1:2)\n    orderId     1017\n'
    const lines = ['error - there orderId=1017', 'error - a orderId=1017', 'info  - b', 'error - c orderId=1017'].map(
      (line) => `${DAY} 08:00:00.000 ${line}\n${line.startsWith('error') ? detail : ''}`,
    )
    expect((await ended(running)).out).toBe(lines.join(''))
  })

  test('with --json whole entries, one per line, escaped', async () => {
    const at = await service()
    await ingest(at, [entryOf({ message: 'there' })])
    const running = tail(at, ['--json'])
    await hears(running, 'waiting for entries')
    await ingest(
      at,
      [entryOf({ message: 'c1 \u009b2J \u202e', metadata: { deep: { a: [1] } } }), entryOf({ message: 'last' })],
      'batch-9',
    )
    await hears(running, 'last')
    const { out, err } = await ended(running)
    expect(JSON.parse(err)).toMatchObject({ event: 'message' })
    expect(out).toMatch(/^[^\u0080-\u009f\u202e]*$/)
    const printed = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredEntry)
    expect(printed).toEqual(at.entries().items.toReversed())
    expect(printed[1]).toMatchObject({ batch_id: 'batch-9', entry: { metadata: { deep: { a: [1] } } } })
  })
})

describe('continues', () => {
  test('after a restart with the same file, without gaps or repeats', async () => {
    const dbFile = join(scratch(), 'kept.ndjson')
    const first = await service({ dbFile })
    const running = tail(first)
    await hears(running, WAITING)
    // A record of another kind, since all kinds share one sequence.
    await call(`${first.url}/heartbeat/some-token`)
    await first.close()
    await hears(running, 'cannot be reached')
    const between = await createIngestService({ token: TOKEN, dbFile })
    await ingest(between, [entryOf({ message: 'while it was away' })])
    await between.close()
    const second = await service({ dbFile, port: first.port })
    await hears(running, 'while it was away')
    await ingest(second, [entryOf({ message: 'after' })])
    await hears(running, 'after')
    const { code, out, err } = await ended(running)
    expect(code).toBe(0)
    expect(out).toBe(
      ['while it was away', 'after'].map((message) => `${DAY} 08:00:00.000 info  - ${message}\n`).join(''),
    )
    expect(err.replaceAll(/^pino-ingest tail: (?:http:\S+ )?(\w+).*$/gm, '$1').split('\n')).toEqual([
      'connected',
      'cannot',
      'connected',
      '',
    ])
  })
})

describe('ends', () => {
  test.each<readonly [string, (response: ServerResponse) => void, string]>([
    ['replies with 404', (response) => void response.writeHead(404).end(), 'status 404'],
    [
      'has the realm but no proof',
      (response) => void response.writeHead(401, { 'www-authenticate': OURS }).end(),
      'does not have the token',
    ],
    ['hangs up', (response) => void response.socket?.destroy(), 'ECONNRESET'],
  ])('with 1 if the listener %s, which does not receive the token', async (_, answer, message) => {
    const { origin, came } = await httpServer(answer)
    const { code, out, err } = await runInProcess(['tail', '--url', origin, 'a secret'], ENV)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(message)
    expect(err.split('\n')).toHaveLength(2)
    expect(came).toHaveLength(1)
    expect(JSON.stringify(came)).not.toMatch(new RegExp(`${TOKEN}|authorization|secret`, 'i'))
  })

  test('with 1 if a listener with the token replies with text', async () => {
    const { origin } = await httpServer((response, { headers }) => {
      const { localAddress: address = '', localPort: port = 0 } = response.socket ?? {}
      const nonce = headers[CHALLENGE_HEADER]
      if (nonce === undefined) return void response.writeHead(200, { 'content-type': 'application/json' }).end('{')
      const proof = createProof(TOKEN, String(nonce), { address, port })
      return void response.writeHead(401, { 'www-authenticate': `${OURS}, proof="${proof}"` }).end()
    })
    const { code, err } = await runInProcess(['tail', '--url', origin], ENV)
    expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`${origin} .*not JSON`))])
  })

  test('with 1 if nothing listens, there is no token, or the token is rejected', async () => {
    const at = await service()
    const wrong = await runInProcess(['tail', '--url', at.origin], { PINO_INGEST_DEV_TOKEN: 'another-token-of-22-ch' })
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining(at.origin)])
    expect(wrong.err).toContain('PINO_INGEST_DEV_TOKEN')
    await at.close()
    const { code, err } = await runInProcess(['tail', '--json', '--url', at.url], ENV)
    expect([code, JSON.parse(err)]).toEqual([
      1,
      { error: { code: 'UNAVAILABLE', message: expect.stringContaining(`nothing listens at ${at.origin}`) as string } },
    ])
    const running = await started()
    const none = await runInProcess(['tail', '--url', running.origin], devEnv())
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/dev-token is not there.*npx pino-ingest dev/)])
  })

  test.each([
    [['--lines', '1001'], '--lines must be an integer from 0 to 1000, got "1001"'],
    [['--url', 'http://192.0.2.1:4319'], '--url must be the address of a local service'],
    [['--url', 'http://u:p@127.0.0.1:4319'], '--url must be the address of a local service'],
    [['--url', `http://127.0.0.1:4319/#token=${TOKEN}`], '--url must not contain the token'],
    [['--json', '--full'], '--full cannot be combined with --json'],
  ])('with 2 for %j', async (args, message) => {
    const result = await runInProcess(['tail', ...args], ENV)
    expect(result).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(message) as string,
    })
    expect(result.err).not.toContain(TOKEN)
  })
})
