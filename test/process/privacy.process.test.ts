/** Secrets in an application's records do not leave the process in any form. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { httpServer } from '../client/http-servers.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { contentsBelow, runProgram } from './run-app.js'

const PATTERNS = ['email', 'creditCard', 'ssn', 'bearer', 'sk_live_[0-9a-z]{16,64}']
/** Secrets that only the user's own patterns can detect. */
const ONLY_BY_PATTERN = /canary-(?:jane|joe|scope|crumb|error)@example\.com|canaryBearerToken\w+|sk_live_canary\d+/g

async function run(url: string, dir: string, patterns: readonly string[], limits: object): Promise<string> {
  const options = {
    url,
    apiKey: 'privacy-key',
    service: 'shop',
    spool: { dir },
    requestLogs: true,
    scrub: { patterns },
    ...limits,
  }
  const { code, stdout, stderr } = await runProgram('secretive.mjs', { PLAN: JSON.stringify(options) })
  expect(code, stderr).toBe(0)
  return stdout + stderr
}

test.each([
  ['with scrub.patterns', PATTERNS],
  ['without', []],
] as const)('%s', { timeout: 60_000 }, async (_, patterns) => {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-privacy-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  let isDown = true
  const server = await httpServer((response, { body }) => {
    const accepted = (JSON.parse(body) as { logs?: unknown[] }).logs?.length ?? 0
    if (isDown) response.statusCode = 503
    response.end(JSON.stringify({ accepted, rejected: 0, message: 'ok', errors: [] }))
  })
  const url = `${server.origin}/api/v1`
  const first = await run(url, dir, patterns, { shutdownTimeoutMs: 1_000 })
  const spooled = contentsBelow(dir)
  expect(spooled).toContain('charge failed') // the service was down: everything is on disk
  isDown = false
  const second = await run(url, dir, patterns, {})
  const bodies = server.came.map(({ body }) => body)

  const everything = [spooled, contentsBelow(dir), ...bodies, first, second].join('\n')
  const known = patterns.length === 0 ? everything.replace(ONLY_BY_PATTERN, '') : everything
  expect([...known.matchAll(/.{0,60}canary.{0,40}/gi)].map(([text]) => text)).toEqual([])
  if (patterns.length > 0) expect(everything).not.toMatch(/4111[ -]?1111|078-05-1120/)
  else expect(everything).toMatch(/canary-jane@example\.com/) // otherwise the test would prove nothing

  // The rest of each record arrives.
  const entries = bodies.flatMap((body) => (JSON.parse(body) as { logs?: LogEntry[] }).logs ?? [])
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
