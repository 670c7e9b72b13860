/** `pino-ingest tail` as a process: output, restarts of the service, and errors. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findTokenFile } from '../../../src/cli/shared/token-store.js'
import { CHALLENGE_HEADER, createProof } from '../../../src/shared/local-proof.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { createIngestService } from '../../../src/service/index.js'
import type { IngestService, IngestServiceOptions, StoredEntry } from '../../../src/service/index.js'
import { scratch } from '../../client/release/clones.js'
import { call, entryOf, ingest, started, until } from '../../service/support.js'
import { devEnv, send, startText } from '../dev-started.js'
import { runCli, startCli } from '../run-cli.js'
import type { CliEnv, RunningCli } from '../run-cli.js'
import { lastingPort } from '../../reusable-port.mjs'

const TOKEN = 'token-of-the-tests_16'
const ENV: CliEnv = { PINO_INGEST_DEV_TOKEN: TOKEN }

async function service(options: IngestServiceOptions = {}): Promise<IngestService> {
  return await started({ token: TOKEN, port: await lastingPort(), ...options })
}

function tail({ origin }: Pick<IngestService, 'origin'>, args: readonly string[] = [], env: CliEnv = {}): RunningCli {
  return startCli(['tail', '--utc', '--url', origin, ...args], { ...ENV, ...env })
}

/** Resolves when the output contains the text. */
async function hears(running: RunningCli, text: string): Promise<void> {
  await until(() => running.said().includes(text), 20_000)
}

const WAITING = 'waiting for entries\n'
const DAY = '2026-01-31'

/** Starts a listener and records the request heads that it receives. */
async function listening(
  listener: RequestListener,
  port = 0,
): Promise<{ readonly origin: string; readonly heads: readonly string[] }> {
  const heads: string[] = []
  const server = createServer((request, response) => {
    heads.push([`${request.method} ${request.url}`, ...request.rawHeaders].join('\n'))
    listener(request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heads }
}

const OURS = 'Bearer realm="pino-ingest"'

async function ended(
  running: RunningCli,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  running.child.kill('SIGINT')
  const { code, stdout, stderr } = await running.done
  return { code, stdout: stdout.toString(), stderr }
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
      stderr: `pino-ingest tail: connected to ${at.origin}, waiting for entries\n`,
      stdout: ['info  - two', 'info  - three', 'error - E: m · four orderId=4711', 'info  - five']
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
    expect((await ended(running)).stdout).toBe(`${DAY} 08:00:00.000 error shop wanted\n`)
  })

  test('on stderr that no stored entry matches, and what is probably meant', async () => {
    const at = await service()
    await ingest(at, [entryOf()])
    const running = tail(at, ['levl:info'])
    await hears(running, WAITING)
    const { stdout, stderr } = await ended(running)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/level:info\n.*no stored entry matches\n/)
  })

  test('entries that arrive between the first reply and the stream', async () => {
    const at = await service()
    const running = tail(at)
    for (let count = 0; !running.said().includes('last'); count += 1) {
      await ingest(at, [
        entryOf({ message: `number ${count}` }),
        ...(running.said().includes('number 9') ? [entryOf({ message: 'last' })] : []),
      ])
    }
    const { stdout } = await ended(running)
    const numbers = [...stdout.matchAll(/number (\d+)/g)].map(([, number]) => Number(number))
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index))
    expect(numbers.length).toBeGreaterThan(9)
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
    expect((await ended(running)).stdout).toBe(lines.join(''))
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
    const { stdout, stderr } = await ended(running)
    expect(JSON.parse(stderr)).toMatchObject({ event: 'message' })
    expect(stdout).toMatch(/^[^\u0080-\u009f\u202e]*$/)
    const printed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredEntry)
    expect(printed).toEqual(at.entries().items.toReversed())
    expect(printed[1]).toMatchObject({ batch_id: 'batch-9', entry: { metadata: { deep: { a: [1] } } } })
  })

  test('no control characters that an application logged', async () => {
    const at = await service()
    const hostile = 'a\u001b]0;title\u0007\r\nforged \u202e\u2028 \u009b31m'
    const running = tail(at, ['--full'], { FORCE_COLOR: '1' })
    await ingest(at, [
      entryOf({
        message: hostile,
        service: hostile,
        tags: [hostile],
        error: { type: hostile, stack: hostile },
        metadata: { [hostile]: hostile, deep: [hostile] },
      }),
    ])
    await hears(running, 'deep')
    const { stdout } = await ended(running)
    const ownColors = stdout.replaceAll(/\u001b\[\d+m/g, '')
    expect(ownColors).not.toBe(stdout)
    expect(ownColors.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\u2028\u202e]*$/u)
    // One line, two of the message, two of the stack, one of tags, two of metadata.
    expect(stdout.trimEnd().split('\n')).toHaveLength(8)
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
    const { code, stdout, stderr } = await ended(running)
    expect(code).toBe(0)
    expect(stdout).toBe(
      ['while it was away', 'after'].map((message) => `${DAY} 08:00:00.000 info  - ${message}\n`).join(''),
    )
    expect(stderr.replaceAll(/^pino-ingest tail: (?:http:\S+ )?(\w+).*$/gm, '$1').split('\n')).toEqual([
      'connected',
      'cannot',
      'connected',
      '',
    ])
  })

  test('after a restart without a file, with new entries', async () => {
    const first = await service()
    for (let count = 0; count < 5; count += 1) await ingest(first, [entryOf({ message: `old ${count}` })])
    const running = tail(first)
    await hears(running, WAITING)
    await first.close()
    await hears(running, 'cannot be reached')
    const second = await service({ port: first.port })
    // At least as many as the first had, so sequences overlap.
    for (let count = 0; count < 9; count += 1) await ingest(second, [entryOf({ message: `new ${count}` })])
    await hears(running, 'new 8')
    const { stdout, stderr } = await ended(running)
    expect([...stdout.matchAll(/new (\d)/g)].map(([, number]) => number)).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
    ])
    expect(stderr).toContain('the local service was restarted without its earlier entries\n')
  })

  test('after all entries were deleted', async () => {
    const at = await service()
    const running = tail(at)
    await hears(running, WAITING)
    at.reset()
    await hears(running, 'the local service has deleted its earlier entries')
    await ingest(at, [entryOf({ message: 'afterwards' })])
    await hears(running, 'afterwards')
    expect((await ended(running)).code).toBe(0)
  })

  test('with the new token, if it changed at a restart and the user can read it', async () => {
    const env = devEnv()
    const first = await startText(['--port', String(await lastingPort())], env)
    const running = startCli(['tail', '--url', first.origin], env)
    await send(first.url, entryOf({ message: 'before' }))
    await hears(running, 'before')
    first.running.child.kill('SIGTERM')
    await first.running.done
    await hears(running, 'cannot be reached')
    rmSync(findTokenFile(env))
    const port = new URL(first.origin).port
    const second = await startText(['--port', port], env)
    expect(second.token).not.toBe(first.token)
    await send(second.url, entryOf({ message: 'after' }))
    await hears(running, 'after')
    second.running.child.kill('SIGTERM')
    await second.running.done
    await started({ port: Number(port), token: 'of-somebody-else_16' })
    const { code, stderr } = await running.done
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /pino-ingest: the local service at http:\S+ does not have the token from \S+dev-token; .* set PINO_INGEST_DEV_TOKEN to /,
    )
  })

  test.each<readonly [string, string, string]>([
    ['proves nothing', OURS, 'does not have the token'],
    ['sends a wrong proof', `${OURS}, proof="${'x'.repeat(43)}"`, 'does not have the token'],
  ])('but sends no token to a later listener that %s', async (_, challenge, message) => {
    const first = await service()
    const running = tail(first)
    await hears(running, WAITING)
    await first.close()
    await hears(running, 'cannot be reached')
    const squatter = await listening(
      (__, response) => void response.writeHead(401, { 'www-authenticate': challenge }).end('{}'),
      first.port,
    )
    const { code, stderr } = await running.done
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    expect(squatter.heads.length).toBeGreaterThan(0)
    for (const head of squatter.heads)
      expect(head).toMatch(
        new RegExp(`^GET /local/status\n${CHALLENGE_HEADER}\n[\\w-]{22}\n(?![^]*(${TOKEN}|authorization))`, 'i'),
      )
  })

  test('and reports how many entries it skipped because its output was not read', async () => {
    const at = await service()
    const unread = tail(at)
    await hears(unread, WAITING)
    unread.child.stdout.pause()
    // This reader receives each round before the next one is sent, so it skips nothing.
    const read = tail(at, ['round'])
    await ingest(at, [entryOf({ message: 'round 0.' })])
    await hears(read, 'round 0.')
    // 19 MB exceed the buffers of sockets and pipes.
    const rounds = 14
    const batches = 5
    const batch = Array.from({ length: 99 }, () =>
      entryOf({ message: '€'.repeat(500), error: { type: '€'.repeat(200), message: '€'.repeat(200) } }),
    )
    for (let round = 1; round <= rounds; round += 1) {
      for (let count = 0; count < batches; count += 1) await ingest(at, batch)
      await ingest(at, [entryOf({ message: `round ${round}.` })])
      await hears(read, `round ${round}.`)
    }
    unread.child.stdout.resume()
    await hears(unread, `round ${rounds}.`)
    const { stdout, stderr } = await ended(unread)
    // A busy machine may interrupt the stream, which then continues with the next entry.
    expect((await ended(read)).stderr).not.toContain('skipped')
    const skipped = [...stderr.matchAll(/tail: ([\d,]+) entr(?:y|ies) skipped/g)].reduce(
      (total, [, count = '']) => total + Number(count.replaceAll(',', '')),
      0,
    )
    expect(skipped).toBeGreaterThan(0)
    expect(stdout.match(/€\n|round \d+\.\n/g)).toHaveLength(rounds * (batches * 99 + 1) + 1 - skipped)
  }, 60_000)
})

describe('ends', () => {
  test('with 0 when its output is closed', async () => {
    const at = await service()
    const running = tail(at)
    await hears(running, WAITING)
    running.child.stdout.destroy()
    for (let isOver = false; !isOver;) {
      await ingest(at, [entryOf({ message: 'into the broken pipe' })])
      isOver = running.child.exitCode !== null
    }
    expect((await running.done).code).toBe(0)
  })

  test.each(['SIGTERM', 'SIGHUP'] as const)('with 0 by %s, also while the service is away', async (signal) => {
    const at = await service()
    const running = tail(at)
    await hears(running, WAITING)
    await at.close()
    await hears(running, 'cannot be reached')
    running.child.kill(signal)
    expect((await running.done).code).toBe(0)
  })

  test.each<readonly [string, RequestListener, string]>([
    [
      'replies with 404',
      (_, response) => void response.writeHead(404).end(),
      'is not pino-ingest dev (it replied with status 404)',
    ],
    [
      'has the realm but no proof',
      (_, response) => void response.writeHead(401, { 'www-authenticate': OURS }).end(),
      'does not have the token',
    ],
    ['hangs up', (request) => void request.socket.destroy(), 'does not respond (ECONNRESET)'],
  ])('with 1 if the listener %s', async (_, listener, message) => {
    const { origin, heads } = await listening(listener)
    const result = await runCli(['tail', '--url', origin, 'a secret'], ENV)
    expect(result).toMatchObject({ code: 1, stdout: Buffer.alloc(0) })
    expect(result.stderr).toContain(message)
    expect(result.stderr.split('\n')).toHaveLength(2)
    expect(heads).toHaveLength(1)
    expect(heads.join()).not.toMatch(new RegExp(`${TOKEN}|authorization|secret`, 'i'))
  })

  test('with 1 if a listener with the token replies with text', async () => {
    const { origin } = await listening((request, response) => {
      const { localAddress: address = '', localPort: port = 0 } = request.socket
      const nonce = request.headers[CHALLENGE_HEADER]
      if (nonce === undefined) response.writeHead(200, { 'content-type': 'application/json' }).end('{')
      else
        response
          .writeHead(401, {
            'www-authenticate': `${OURS}, proof="${createProof(TOKEN, String(nonce), { address, port })}"`,
          })
          .end()
    })
    const result = await runCli(['tail', '--url', origin], ENV)
    expect(result).toMatchObject({
      code: 1,
      stderr: `pino-ingest: the listener at ${origin} is not pino-ingest dev (its reply is not JSON); set another address with --url\n`,
    })
  })

  test('with 1 if nothing listens, there is no token, or the token is rejected', async () => {
    const at = await service()
    const wrong = await runCli(['tail', '--url', at.origin], { PINO_INGEST_DEV_TOKEN: 'another-token-of-22-ch' })
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `the local service at ${at.origin} does not have the token from PINO_INGEST_DEV_TOKEN; `,
      ) as string,
    })
    await at.close()
    const nothing = await runCli(['tail', '--url', at.url], ENV)
    expect(nothing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`nothing listens at ${at.origin}: `) as string,
    })
    const running = await started()
    const none = await runCli(['tail', '--url', running.origin], devEnv())
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^pino-ingest: there is no token for the local service: .*dev-token is not there.*npx pino-ingest dev/,
      ) as string,
    })
    const json = await runCli(['tail', '--json', '--url', at.origin], ENV)
    expect(JSON.parse(json.stderr)).toEqual({
      error: { code: 'UNAVAILABLE', message: expect.stringContaining('nothing listens') as string },
    })
  })

  test.each([
    [['--lines', '1001'], '--lines must be an integer from 0 to 1000, got "1001"'],
    [['--url', 'http://192.0.2.1:4319'], '--url must be the address of a local service'],
    [['--url', 'http://u:p@127.0.0.1:4319'], '--url must be the address of a local service'],
    [['--url', `http://127.0.0.1:4319/#token=${TOKEN}`], '--url must not contain the token'],
    [['--json', '--full'], '--full cannot be combined with --json'],
  ])('with 2 for %j', async (args, message) => {
    const result = await runCli(['tail', ...args], ENV)
    expect(result).toMatchObject({
      code: 2,
      stdout: Buffer.alloc(0),
      stderr: expect.stringContaining(message) as string,
    })
    expect(result.stderr).not.toContain(TOKEN)
  })
})
