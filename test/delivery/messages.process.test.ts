/** What the transport says on stderr is what its README lists: in the code, and in the lines that real runs print. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readText, root } from '../markdown.js'
import { runApp } from '../process/run-app.js'
import type { AppPlan } from '../process/run-app.js'
import { started } from '../service/support.js'

const KEY = 'messages-key-4711'
const NOWHERE = 'http://127.0.0.1:9/api/v1'
const README = 'src/delivery/README.md'
const MIB = 1024 * 1024

/** First cells of the tables about stderr, in which `…` stands for anything. */
const patterns = [
  ...(readText(README)
    .split('\n## What it says on stderr\n')[1]
    ?.matchAll(/^\| `(.+?)` \|/gm) ?? []),
].map(([, pattern]) => pattern as string)

function expressionOf(pattern: string): RegExp {
  const escaped = pattern.split(/…+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${escaped.join('.*')}$`)
}

describe('in the code', () => {
  const sources = (readdirSync(join(root, 'src'), { recursive: true }) as string[])
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
    .join('\n')
    .replaceAll("\\'", "'")
    // Text that goes on in the next line.
    .replace(/['`]\s*\n\s*\+ ['`]/g, '')

  // Joined at run time: a reason and its words, a trouble and what comes next. What matters are the words in a row.
  const JOINTS =
    /…+|\((?:shutdown|buffer|spool|age|damaged)\): |\): |: |; |, (?=and not)| \((?=[a-z])|\)$| (?=memory|the disk)(?=.* is short)| (?=is short)|\. (?=Set )/

  test.each(patterns)('%s', (pattern) => {
    const parts = pattern
      .split(JOINTS)
      .map((part) => part.trim())
      .filter((part) => /[a-z]{3}/.test(part))
    expect(parts.length).toBeGreaterThan(0)
    expect(parts.filter((part) => !sources.includes(part))).toEqual([])
  })
})

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-said-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Whether something listens there: a developer's `pino-ingest dev`. */
async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  return await once(socket, 'connect').then(
    () => true,
    () => false,
  )
}

/** Answers everything in one way. @returns its base URL */
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

/** Runs an application to its natural end. @returns what the transport said, without the name in front */
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

/** The patterns of the lines; each line has one. */
function patternsOf(lines: readonly string[]): string[] {
  return [
    ...new Set(
      lines.map((line) => {
        const plain = line.replace(/^request logs: /, '')
        const found = patterns.find((pattern) => expressionOf(pattern).test(plain))
        if (found === undefined) throw new Error(`the README does not list: ${line}`)
        return found
      }),
    ),
  ].toSorted()
}

function row(beginning: string): string {
  const found = patterns.find((one) => one.startsWith(beginning))
  if (found === undefined) throw new Error(`no row begins with ${beginning}`)
  return found
}

const KEPT = row('… not yet acknowledged')

describe('what real runs print', () => {
  test('a service that is down, with a spool', async () => {
    const lines = await said({ url: NOWHERE, spool: { dir: scratch() } })
    expect(lines).toEqual([expect.stringMatching(/^10 entries .* kept on disk .* with this url and key$/)])
    expect(patternsOf(lines)).toEqual([KEPT])
  })

  test('a service that is down, without a spool: what was set, and not what was left of it', async () => {
    const lines = await said({ url: NOWHERE, spool: false, release: true, version: '1', shutdownTimeoutMs: 4_000 })
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^dropped 10 entries \(shutdown\): not delivered before the process ended \(shutdownTimeoutMs 4000\), and not on disk; last failure: POST \S+: ECONNREFUSED \(nothing listens there\)$/,
      ),
    )
    // That the release is not registered may be told as well.
    expect(patternsOf(lines)).toContain(row('dropped … (shutdown): not'))
  })

  test('no local service', async ({ skip }) => {
    skip(await isTaken(4319), 'a local service runs on this machine')
    const lines = await said({ apiKey: undefined, shutdownTimeoutMs: 4_000 }, {}, { PINO_INGEST_SPOOL_DIR: '' })
    expect(patternsOf(lines)).toContain(row('dropped … (shutdown): not'))
    expect(lines.find((line) => line.startsWith('dropped'))).toMatch(expressionOf(`…${row('start the local service')}`))
  })

  test.each([
    [401, {}, 'the service refuses the key'],
    [404, {}, 'the url is not'],
    [302, { location: 'https://login.example.com/' }, 'the url is not'],
    [503, { 'retry-after': '30' }, 'the service does not take'],
    [429, { 'retry-after': '30' }, 'the service limits the rate'],
  ] as const)('status %i %j', async (status, headers, beginning) => {
    const lines = await said({ url: await answering(status, headers), spool: { dir: scratch() } })
    expect(patternsOf(lines)).toEqual([KEPT, row(beginning)].toSorted())
    expect(lines.join('\n')).not.toContain(KEY)
  })

  test('a login page with status 200', async () => {
    const lines = await said({
      url: await answering(200, { 'content-type': 'text/html' }, `<html>${KEY}`),
      spool: { dir: scratch() },
    })
    expect(patternsOf(lines)).toEqual([KEPT, row('the url is not')].toSorted())
    expect(lines.join('\n')).toMatch(/^[^(]*: status 200, text\/html: <html>\*\*\*$/m)
  })

  test('a 204, or an object that is no ingest result: accepted, and reported once', async () => {
    for (const [status, body] of [
      [204, ''],
      [200, '{}'],
    ] as const) {
      const lines = await said({ url: await answering(status, {}, body), spool: { dir: scratch() }, batchSize: 1 })
      expect(patternsOf(lines)).toEqual([row('a reply is not')])
      expect(lines).toHaveLength(1)
    }
  })

  test('an entry that the service rejects', async () => {
    const errors = [{ index: 3, code: 'VALIDATION_ERROR', field: 'message', message: 'message is too odd' }]
    const result = { accepted: 9, rejected: 1, message: '', errors }
    const lines = await said({ url: await answering(422, {}, JSON.stringify(result)), spool: { dir: scratch() } })
    expect(lines).toEqual(['the service rejected 1 entry: message is too odd'])
    expect(patternsOf(lines)).toEqual([row('the service rejected')])
  })

  test('memory that is full', async () => {
    const lines = await said(
      { url: NOWHERE, spool: false, maxBufferBytes: MIB, shutdownTimeoutMs: 4_000 },
      { raw: linesOf(scratch(), 8_000) },
    )
    expect(patternsOf(lines)).toEqual(
      expect.arrayContaining([row('dropped … (buffer): new entries'), row('dropped … (shutdown): not')]),
    )
  })

  test('a spool that is full', async () => {
    const lines = await said(
      { url: NOWHERE, spool: { dir: scratch(), maxBytes: MIB }, maxBufferBytes: MIB },
      { raw: linesOf(scratch(), 8_000, 50) },
    )
    expect(patternsOf(lines)).toEqual(expect.arrayContaining([KEPT, row('dropped … (spool): spool.maxBytes')]))
  })

  test('a folder that is none', async () => {
    const dir = join(scratch(), 'spool')
    writeFileSync(dir, '')
    const service = await started({ apiKeys: [KEY] })
    const lines = await said({ url: service.url, spool: { dir } })
    expect(lines).toEqual([expect.stringContaining(`${dir} is not a folder`)])
    expect(patternsOf(lines)).toEqual([row('entries cannot be kept')])

    // The counts of what was dropped cannot be kept there either: the same disk.
    const dropped = await said({ url: NOWHERE, spool: { dir }, shutdownTimeoutMs: 4_000 })
    expect(patternsOf(dropped)).toEqual(
      expect.arrayContaining([row('dropped … (shutdown): not'), row('entries cannot be kept')]),
    )
    expect(patternsOf(dropped)).not.toContain(row('cannot save the drop counts'))
  })

  test('entries of another key are told once, by entries and request logs together', async () => {
    const dir = scratch()
    expect(patternsOf(await said({ url: NOWHERE, apiKey: 'another-key-0815', spool: { dir } }))).toEqual([KEPT])
    makeOld(dir)
    const service = await started({ apiKeys: [KEY] })
    const lines = await said({ url: service.url, spool: { dir }, requestLogs: true })
    expect(lines).toHaveLength(1)
    expect(patternsOf(lines)).toEqual([row('… bytes of entries for another url or key are stored')])
    expect(await said({ url: service.url, spool: { dir } })).toEqual([])
  })

  test('a spool that is damaged', async () => {
    const dir = scratch()
    await said({ url: NOWHERE, spool: { dir } })
    for (const file of filesIn(dir).filter((name) => name.endsWith('.seg'))) {
      const bytes = readFileSync(file)
      bytes.write('N', bytes.indexOf('numbered'))
      writeFileSync(file, bytes)
    }
    // It logs for a second, in which what was left is read.
    const lines = await said({ url: NOWHERE, spool: { dir } }, { count: 20, perSecond: 20 })
    expect(patternsOf(lines)).toEqual(
      [KEPT, row('dropped … (damaged): what'), row('… bytes of … are damaged')].toSorted(),
    )
  })

  test('a hook that fails', async () => {
    const folder = scratch()
    const hook = join(folder, 'hook.cjs')
    writeFileSync(hook, 'module.exports = () => { throw new Error("boom") }')
    const service = await started({ apiKeys: [KEY] })
    expect(patternsOf(await said({ url: service.url, beforeSend: hook }))).toEqual([row('beforeSend …')])
  })

  test('a start that is refused', async () => {
    const { events } = await runApp({ mode: 'target', options: { url: 'logs.example.com', apiKey: KEY }, count: 1 })
    const [message = ''] =
      /IngestError: (.*)/.exec(String(events.find(({ name }) => name === 'error')?.payload))?.slice(1) ?? []
    expect(patternsOf([message])).toEqual([row('invalid configuration')])
  })
})

test('a line that is not listed is found', () => {
  expect(() => patternsOf(['something new is wrong'])).toThrow('does not list')
})

/** Of a level that is refused last, every `nth` of one that is refused first. @returns the file */
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
