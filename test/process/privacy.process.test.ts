/** Secrets in an application's records do not leave the process in any form. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { cleanEnv } from './run-app.js'

const PATTERNS = ['email', 'creditCard', 'ssn', 'bearer', 'sk_live_[0-9a-z]{16,64}']
/** Secrets that only the user's own patterns can detect. */
const ONLY_BY_PATTERN = /canary-(?:jane|joe|scope|crumb|error)@example\.com|canaryBearerToken\w+|sk_live_canary\d+/g

interface Taken {
  readonly bodies: string[]
  readonly server: Server
  readonly url: string
  isDown: boolean
}

async function takeBodies(): Promise<Taken> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(body)
      const accepted = (JSON.parse(body) as { logs?: unknown[] }).logs?.length ?? 0
      if (taken.isDown) response.writeHead(503).end()
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ accepted, rejected: 0, message: 'ok', errors: [] }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const taken = {
    bodies,
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    isDown: true,
  }
  return taken
}

async function run(url: string, dir: string, patterns: readonly string[]): Promise<string> {
  const options = {
    url,
    apiKey: 'privacy-key',
    service: 'shop',
    spool: { dir },
    requestLogs: true,
    scrub: { patterns },
    shutdownTimeoutMs: 1_000,
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL('secretive.mjs', import.meta.url))], {
    env: cleanEnv({ PLAN: JSON.stringify(options) }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect(code, output).toBe(0)
  return output
}

function filesIn(folder: string): string {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}

test.each([
  ['with scrub.patterns', PATTERNS],
  ['without', []],
] as const)('%s', { timeout: 60_000 }, async (_, patterns) => {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-privacy-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const taken = await takeBodies()
  const first = await run(taken.url, dir, patterns)
  const spooled = filesIn(dir)
  expect(spooled).toContain('charge failed') // the service was down: everything is on disk
  taken.isDown = false
  const second = await run(taken.url, dir, patterns)

  const everything = [spooled, filesIn(dir), ...taken.bodies, first, second].join('\n')
  const known = patterns.length === 0 ? everything.replace(ONLY_BY_PATTERN, '') : everything
  expect([...known.matchAll(/.{0,60}canary.{0,40}/gi)].map(([text]) => text)).toEqual([])
  if (patterns.length > 0) expect(everything).not.toMatch(/4111[ -]?1111|078-05-1120/)
  else expect(everything).toMatch(/canary-jane@example\.com/) // otherwise the test would prove nothing

  // The rest of each record arrives.
  const entries = taken.bodies.flatMap((body) => (JSON.parse(body) as { logs?: LogEntry[] }).logs ?? [])
  const charge = entries.find(({ message }) => message === 'charge failed')
  expect(charge?.error?.stack).toContain('secretive.mjs')
  expect(charge?.metadata?.['error']).toMatchObject({
    code: 'ERR_BAD_REQUEST',
    method: 'post',
    status: 401,
    url: expect.stringMatching(/^https:.*page=2$/) as string,
  })
  expect(entries.find(({ message }) => message === 'request completed')?.request?.url).toMatch(
    /^\/orders\?token=.*&page=2$/,
  )
  expect(charge?.breadcrumbs?.map(({ message }) => message)).toContain('asked the bank')
})
