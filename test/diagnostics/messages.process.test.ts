/** The lines that real runs write to stderr: each is a message of the catalog, and the right one. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as catalog from '../../src/diagnostics/messages.js'
import type { Message } from '../../src/diagnostics/messages.js'
import { runApp } from '../process/run-app.js'
import type { AppPlan } from '../process/run-app.js'
import { started } from '../service/support.js'

const KEY = 'messages-key-4711'
const NOWHERE = 'http://127.0.0.1:9/api/v1'
const MIB = 1024 * 1024

/** The messages of the catalog by name, with any facts. Drop messages start with count and reason. */
const MESSAGES = new Map(
  Object.entries(catalog).flatMap(([group, messages]) =>
    Object.entries(messages as Readonly<Record<string, Message>>).map(([name, { text }]) => {
      const facts = Array.from({ length: text.length }, () => '…')
      const words = text(...facts)
        .split('…')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      const start = group === 'DROP_MESSAGES' ? String.raw`dropped .+ \(\w+\): ` : ''
      return [name, new RegExp(`^${start}${words.join('.*')}`)] as const
    }),
  ),
)

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-said-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A server with one reply for everything. @returns its base URL */
async function answering(status: number, headers: Record<string, string> = {}, body = '{}'): Promise<string> {
  const server = createServer((request, response) => {
    request
      .resume()
      .once('end', () => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
}

/** A service that accepts one key. */
async function startKeyed(key: string): Promise<{ service: string; received: () => number }> {
  let entries = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.once('end', () => {
      const isRight = request.headers['x-api-key'] === key
      const count = isRight ? (JSON.parse(body) as { logs: unknown[] }).logs.length : 0
      entries += count
      response
        .writeHead(isRight ? 200 : 401, { 'content-type': 'application/json' })
        .end(JSON.stringify(isRight ? { accepted: count, rejected: 0, message: '', errors: [] } : { detail: 'no' }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { service: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => entries }
}

/** Runs an application to its natural end. @returns the transport's lines without the prefix */
async function said(
  options: Record<string, unknown>,
  plan: Partial<AppPlan> = {},
  env: Record<string, string> = {},
): Promise<string[]> {
  const { stderr } = await runApp(
    {
      mode: 'target',
      end: 'natural',
      count: 10,
      options: { apiKey: KEY, shutdownTimeoutMs: 8_000, ...options },
      ...plan,
    },
    env,
  )
  const lines = stderr.split('\n').filter((line) => line !== '')
  expect(lines.filter((line) => !line.startsWith('pino-ingest: '))).toEqual([])
  return lines.map((line) =>
    line.slice('pino-ingest: '.length).replace(/ \(\d+ more like this since the last line\)$/, ''),
  )
}

/** The names of the messages; throws for a line that is none. */
function namesOf(lines: readonly string[]): string[] {
  const names = lines.map((line) => {
    const plain = line.replace(/^request logs: /, '')
    const [name] = [...MESSAGES].find(([, pattern]) => pattern.test(plain)) ?? []
    if (name === undefined) throw new Error(`no message of the catalog: ${line}`)
    return name
  })
  return [...new Set(names)].toSorted()
}

describe('what real runs print', () => {
  test('a service that is down, with a spool', async () => {
    const lines = await said({ url: NOWHERE, spool: { dir: scratch() } })
    expect(lines).toEqual([
      expect.stringMatching(/^10 entries .* kept on disk .* URL and key; .*spool ls.*; last failure: .*ECONNREFUSED/),
    ])
    expect(namesOf(lines)).toEqual(['kept'])
  })

  test('a service that is down, without a spool: shows the configured timeout, not the remaining time', async () => {
    const lines = await said({
      url: NOWHERE,
      spool: false,
      registerRelease: true,
      version: '1',
      shutdownTimeoutMs: 4_000,
    })
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^dropped 10 entries \(shutdown\): not delivered before the process exited \(shutdownTimeoutMs 4000\), and not on disk; last failure: POST \S+: ECONNREFUSED \(nothing listens there\); check url, or run `npx pino-ingest doctor`$/,
      ),
    )
    // The failed release registration may be reported, too.
    expect(namesOf(lines)).toContain('notDelivered')
  })

  test('no URL', async () => {
    expect(namesOf(await said({ apiKey: undefined }))).toEqual(['urlMissing'])
  })

  test.each([
    [404, {}, 'wrongUrl'],
    [302, { location: 'https://login.example.com/' }, 'wrongUrl'],
    [503, { 'retry-after': '30' }, 'unavailable'],
    [429, { 'retry-after': '30' }, 'rateLimited'],
  ] as const)('status %i %j', async (status, headers, name) => {
    const lines = await said({ url: await answering(status, headers), spool: { dir: scratch() } })
    expect(namesOf(lines)).toEqual(['kept', name].toSorted())
    expect(lines.join('\n')).not.toContain(KEY)
  })

  test('a wrong key, then the right one', async () => {
    const { service, received } = await startKeyed(KEY)
    const spool = { dir: scratch() }
    const url = `${service}/api/v1`
    const wrong = await said({ url, spool, apiKey: 'wrong-key-1234' })
    expect(namesOf(wrong)).toEqual(['keptForKey', 'keyRejected'])
    const [atOnce = '', atExit = ''] = wrong
    expect(atOnce).toMatch(/^.{0,30}PINO_INGEST_API_KEY\b.*PINO_INGEST_API_KEY_FILE.*status 401/)
    expect(atOnce).toContain(url)
    expect(atOnce.length).toBeLessThan(180)
    // Not all: other applications may use the folder.
    expect(atExit).toMatch(/npx pino-ingest spool ls.*spool replay ID/)
    expect(atExit).not.toContain('status 401')
    expect(wrong.join('\n')).not.toContain('wrong-key-1234')

    expect(namesOf(await said({ url, spool }))).toEqual(['otherDestination'])
    expect(received()).toBe(10)
    expect(await said({ url, spool }, {}, { PINO_INGEST_PREVIOUS_API_KEYS: 'wrong-key-1234' })).toEqual([])
    expect(received()).toBe(30)
  })

  test('a login page with status 200', async () => {
    const lines = await said({
      url: await answering(200, { 'content-type': 'text/html' }, `<html>${KEY}`),
      spool: { dir: scratch() },
    })
    expect(namesOf(lines)).toEqual(['kept', 'wrongUrl'].toSorted())
    expect(lines.join('\n')).toMatch(/PINO_INGEST_URL.* status 200, text\/html: <html>\*\*\*$/m)
  })

  test('a 204, or an object that is not the ingest result of its batch: accepted, and reported once', async () => {
    for (const [status, body] of [
      [204, ''],
      [200, '{}'],
      [200, '{"accepted":1000,"rejected":0}'],
    ] as const) {
      const lines = await said({
        url: await answering(status, {}, body),
        spool: { dir: scratch() },
        batch: { size: 1 },
      })
      expect(namesOf(lines)).toEqual(['unreadableReply'])
      expect(lines).toHaveLength(1)
    }
  })

  test('an entry that the service rejects', async () => {
    const errors = [{ index: 3, code: 'VALIDATION_ERROR', field: 'message', message: 'message is too odd' }]
    const result = { accepted: 9, rejected: 1, message: '', errors }
    const lines = await said({ url: await answering(422, {}, JSON.stringify(result)), spool: { dir: scratch() } })
    expect(lines).toEqual([
      expect.stringMatching(/rejected 1 entry: field message: message is too odd; .*pino-ingest spool show/),
    ])
    expect(namesOf(lines)).toEqual(['entriesRejected'])
  })

  test('a full buffer', async () => {
    const lines = await said(
      { url: NOWHERE, spool: false, maxBufferBytes: MIB, shutdownTimeoutMs: 4_000 },
      { raw: linesOf(scratch(), 8_000) },
    )
    expect(namesOf(lines)).toEqual(expect.arrayContaining(['nearlyFull', 'notDelivered']))
  })

  test('a full spool', async () => {
    const lines = await said(
      { url: NOWHERE, spool: { dir: scratch(), maxBytes: MIB }, maxBufferBytes: MIB },
      { raw: linesOf(scratch(), 8_000, 50) },
    )
    expect(namesOf(lines)).toEqual(expect.arrayContaining(['kept', 'spoolFull']))
  })

  test('a spool.dir that is a file', async () => {
    const dir = join(scratch(), 'spool')
    writeFileSync(dir, '')
    const service = await started({ apiKeys: [KEY] })
    const lines = await said({ url: service.url, spool: { dir } })
    expect(lines).toEqual([expect.stringContaining(`${dir} is not a folder`)])
    expect(namesOf(lines)).toEqual(['notWritable'])
  })

  test('entries for another key are reported once, for entries and request logs together', async () => {
    const dir = scratch()
    expect(namesOf(await said({ url: NOWHERE, apiKey: 'another-key-0815', spool: { dir } }))).toEqual(['kept'])
    makeOld(dir)
    const service = await started({ apiKeys: [KEY] })
    const lines = await said({ url: service.url, spool: { dir }, requestLogs: true })
    expect(lines).toHaveLength(1)
    expect(namesOf(lines)).toEqual(['otherDestination'])
    expect(await said({ url: service.url, spool: { dir } })).toEqual([])
  })

  test('a damaged spool', async () => {
    const dir = scratch()
    await said({ url: NOWHERE, spool: { dir } })
    for (const file of filesIn(dir).filter((name) => name.endsWith('.seg'))) {
      const bytes = readFileSync(file)
      bytes.write('N', bytes.indexOf('numbered'))
      writeFileSync(file, bytes)
    }
    // The app logs for 1 s, in which the recovered entries are read.
    const lines = await said({ url: NOWHERE, spool: { dir } }, { count: 20, perSecond: 20 })
    expect(namesOf(lines)).toEqual(['kept', 'fileDamaged', 'bytesDamaged'].toSorted())
  })

  test('a hook that fails', async () => {
    const folder = scratch()
    const hook = join(folder, 'hook.cjs')
    writeFileSync(hook, 'module.exports = () => { throw new Error("boom") }')
    const service = await started({ apiKeys: [KEY] })
    expect(namesOf(await said({ url: service.url, beforeSend: hook }))).toEqual(['hookFailed'])
  })

  test('an invalid option', async () => {
    const { events } = await runApp({ mode: 'target', options: { url: 'logs.example.com', apiKey: KEY }, count: 1 })
    const [message = ''] =
      /IngestError: (.*)/.exec(String(events.find(({ name }) => name === 'error')?.payload))?.slice(1) ?? []
    expect(message).toContain('logs.example.com')
    expect(message).not.toContain(KEY)
  })
})

test('throws for a line that is not in the catalog', () => {
  expect(() => namesOf(['something new is wrong'])).toThrow('something new is wrong')
})

/** Lines of a level that is dropped last, with every `nth` of a level that is dropped first. @returns the file */
function linesOf(folder: string, count: number, levelNumber = 30): string {
  const file = join(folder, 'lines.ndjson')
  const filler = 'x'.repeat(400)
  writeFileSync(
    file,
    Array.from(
      { length: count },
      (_, n) => `${JSON.stringify({ level: levelNumber, time: 1_800_000_000_000 + n, n, filler, msg: 'long' })}\n`,
    ).join(''),
  )
  return file
}

function filesIn(dir: string): string[] {
  return (readdirSync(dir, { recursive: true }) as string[])
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
}

function makeOld(dir: string): void {
  const at = Date.now() / 1000 - 3_600
  for (const file of filesIn(dir)) utimesSync(file, at, at)
}
