/** The lines that real runs write to stderr: each is a message of the catalog, and the right one. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as catalog from '../../src/diagnostics/messages.js'
import type { Message } from '../../src/diagnostics/messages.js'
import { httpServer } from '../client/http-servers.js'
import { runApp, runScript } from '../process/run-app.js'
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
async function answering(status: number, body = '{}', headers: Record<string, string> = {}): Promise<string> {
  const { origin } = await httpServer((response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
  )
  return `${origin}/api/v1`
}

/** The transport's lines without the prefix. */
function linesOf(stderr: string): string[] {
  const lines = stderr.split('\n').filter((line) => line !== '')
  expect(lines.filter((line) => !line.startsWith('pino-ingest: '))).toEqual([])
  return lines.map((line) =>
    line.slice('pino-ingest: '.length).replace(/ \(\d+ more like this since the last line\)$/, ''),
  )
}

/** Runs an application with a worker to its natural end. @returns its lines */
async function said(
  options: Record<string, unknown>,
  plan: Partial<AppPlan> = {},
  env: Record<string, string> = {},
): Promise<string[]> {
  const own = { apiKey: KEY, shutdownTimeoutMs: 8_000, ...options }
  const { stderr } = await runApp({ mode: 'target', end: 'natural', count: 10, ...plan, options: own }, env)
  return linesOf(stderr)
}

/** Runs an application with a transport for each of the options. @returns the lines of all */
async function allSaid(count: number, message: string, options: readonly object[]): Promise<string[]> {
  const program = `
    const streams = options.map(ingestStream)
    const logger = pino({}, pino.multistream(streams.map((stream) => ({ stream }))))
    for (let n = 0; n < ${count}; n += 1) logger.info({ n }, '${message}')
    for (const stream of streams) stream.end()`
  const own = options.map((one) => ({ apiKey: KEY, shutdownTimeoutMs: 6_000, ...one }))
  return linesOf((await runScript(program, own)).stderr)
}

/** The name of the message; throws for a line that is none. */
function nameOf(line: string): string {
  const plain = line.replace(/^request logs: /, '')
  const [name] = [...MESSAGES].find(([, pattern]) => pattern.test(plain)) ?? []
  if (name === undefined) throw new Error(`no message of the catalog: ${line}`)
  return name
}

function namesOf(lines: readonly string[]): string[] {
  return [...new Set(lines.map(nameOf))].toSorted()
}

test('one line for each failure, with the facts', async () => {
  const file = join(scratch(), 'spool')
  writeFileSync(file, '')
  const hook = join(scratch(), 'hook.cjs')
  writeFileSync(hook, 'module.exports = () => { throw new Error("boom") }')
  const service = await started({ apiKeys: [KEY] })
  const login = await answering(200, `<html>${KEY}`, { 'content-type': 'text/html' })
  const [notFound, redirected] = [
    await answering(404),
    await answering(302, '', { location: 'https://login.example.com/' }),
  ]
  const errors = [{ index: 3, code: 'VALIDATION_ERROR', field: 'message', message: 'message is too odd' }]
  const rejected = JSON.stringify({ accepted: 9, rejected: 1, message: '', errors })
  const spooled = (url: string): object => ({ url, spool: { dir: scratch() } })
  const unreadable = [
    await answering(204, ''),
    await answering(200),
    await answering(200, '{"accepted":1000,"rejected":0}'),
  ]
  const lines = await allSaid(10, 'numbered', [
    spooled(NOWHERE),
    { url: NOWHERE, spool: false },
    spooled(notFound),
    spooled(redirected),
    spooled(login),
    spooled(await answering(503, '', { 'retry-after': '30' })),
    spooled(await answering(429, '', { 'retry-after': '30' })),
    spooled(await answering(422, rejected)),
    ...unreadable.map((url) => ({ ...spooled(url), batch: { size: 1 } })),
    { url: service.url, spool: { dir: file } },
    { url: service.url, spool: false, beforeSend: hook },
  ])
  expect(namesOf(lines)).toEqual([
    'entriesRejected',
    'hookFailed',
    'kept',
    'notDelivered',
    'notWritable',
    'rateLimited',
    'unavailable',
    'unreadableReply',
    'wrongUrl',
  ])
  for (const [name, count] of [
    ['kept', 6],
    ['unreadableReply', unreadable.length],
    ['entriesRejected', 1],
  ] as const)
    expect(lines.filter((line) => nameOf(line) === name)).toHaveLength(count)
  for (const facts of [
    /^10 entries .* kept on disk .* URL and key; .*spool ls.*; last failure: .*ECONNREFUSED/,
    // The configured timeout, not the remaining time.
    /^dropped 10 entries \(shutdown\): .*\(shutdownTimeoutMs 6000\).* last failure: POST \S+: ECONNREFUSED .*npx pino-ingest doctor/,
    new RegExp(`PINO_INGEST_URL.*${notFound}.* status 404`),
    new RegExp(`PINO_INGEST_URL.*${redirected}.* status 302`),
    new RegExp(String.raw`PINO_INGEST_URL.*${login}.* status 200, text/html: <html>\*\*\*`),
    /rejected 1 entry: field message: message is too odd; .*pino-ingest spool show/,
    new RegExp(`${file} is not a folder`),
  ])
    expect(lines).toContainEqual(expect.stringMatching(facts))
  expect(lines.join('\n')).not.toContain(KEY)
  expect(service.arrived).toBe(20)
})

test('a full buffer, and a full spool', async () => {
  const buffer = fullFrom(30, false)
  const spool = fullFrom(50, { maxBytes: MIB })
  expect(namesOf(await buffer)).toEqual(expect.arrayContaining(['nearlyFull', 'notDelivered']))
  expect(namesOf(await spool)).toEqual(expect.arrayContaining(['kept', 'spoolFull']))
})

/** Logs more than there is room for. @returns its lines */
async function fullFrom(level: number, spool: false | object): Promise<string[]> {
  const dir = scratch()
  const raw = join(dir, 'lines.ndjson')
  const line = JSON.stringify({ level, time: 1_800_000_000_000, filler: 'x'.repeat(400), msg: 'long' })
  writeFileSync(raw, `${line}\n`.repeat(8_000))
  const own = { url: NOWHERE, maxBufferBytes: MIB, shutdownTimeoutMs: 1_000 }
  return said({ ...own, spool: spool && { ...spool, dir: join(dir, 'spool') } }, { raw })
}

test('a wrong key, then the right one', async () => {
  const service = await started({ apiKeys: [KEY] })
  const spool = { dir: scratch() }
  const { url } = service
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

  // Once, for entries and request logs together, and not again at the next start.
  const lines = await said({ url, spool, requestLogs: true })
  expect(lines).toHaveLength(1)
  expect(namesOf(lines)).toEqual(['otherDestination'])
  expect(service.arrived).toBe(10)
  expect(await said({ url, spool }, {}, { PINO_INGEST_PREVIOUS_API_KEYS: 'wrong-key-1234' })).toEqual([])
  expect(service.arrived).toBe(30)
})

test('a damaged spool', async () => {
  const dir = scratch()
  await said({ url: NOWHERE, spool: { dir } })
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.seg'))) {
    const bytes = readFileSync(join(dir, name))
    bytes.write('N', bytes.indexOf('numbered'))
    writeFileSync(join(dir, name), bytes)
  }
  // The app logs for 1 s, in which the recovered entries are read.
  const lines = await said({ url: NOWHERE, spool: { dir } }, { count: 20, perSecond: 20 })
  expect(namesOf(lines)).toEqual(['kept', 'fileDamaged', 'bytesDamaged'].toSorted())
})

test('throws for a line that is not in the catalog', () => {
  expect(() => namesOf(['something new is wrong'])).toThrow('something new is wrong')
})
