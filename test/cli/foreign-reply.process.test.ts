/** A page with status 200 instead of the service's reply: nothing counts as sent, and everything arrives when the service is back. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { FlushResult } from '../../src/transport/flush-message.js'
import { startApp } from '../process/run-app.js'
import { runCli } from './run-cli.js'

const KEY = 'foreign-key-77c1'
const COUNT = 250

interface Site {
  readonly url: string
  /** Messages of accepted entries. */
  readonly accepted: string[]
  /** Replaces the page by the service. */
  readonly recover: () => void
}

async function siteWith(page: string, type: string): Promise<Site> {
  let isUp = false
  const accepted: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request
      .setEncoding('utf8')
      .on('data', (part: string) => (body += part))
      .on('end', () => {
        if (!isUp) return void response.writeHead(200, { 'content-type': type }).end(page)
        const { logs } = JSON.parse(body) as { logs: { message: string }[] }
        accepted.push(...logs.map(({ message }) => message))
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ accepted: logs.length, rejected: 0, message: '', errors: [] }))
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`,
    accepted,
    recover: () => {
      isUp = true
    },
  }
}

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-foreign-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const lines = Array.from(
  { length: COUNT },
  (_, n) => `{"level":30,"time":${1_767_225_600_000 + n},"msg":"line ${n}"}\n`,
).join('')
const messages = Array.from({ length: COUNT }, (_, n) => `line ${n}`).toSorted()
const PAGES = [
  ['<!doctype html><title>Sign in</title>', 'text/html'],
  ['{"accepted":"all"}', 'application/json'],
] as const

test.each(PAGES)('send, %s: exit 1, not recorded as sent', async (page, type) => {
  const site = await siteWith(page, type)
  const dir = scratch()
  const env = { PINO_INGEST_URL: site.url, PINO_INGEST_API_KEY: KEY, XDG_STATE_HOME: join(dir, 'state') }
  const file = join(dir, 'app.log')
  writeFileSync(file, lines)
  const first = await runCli(['send', file], env)
  expect(first.code).toBe(1)
  expect(first.stdout.toString() + first.stderr).toContain(`status 200, ${type}: ${page}`)
  site.recover()
  expect(await runCli(['send', file], env)).toMatchObject({ code: 0, stderr: '' })
  expect(site.accepted.toSorted()).toEqual(messages)
})

test('send: the service rejects an entry without naming it: exit 1', async () => {
  const site = await siteWith('{"accepted":99,"rejected":1,"message":"","errors":[]}', 'application/json')
  const dir = scratch()
  const env = { PINO_INGEST_URL: site.url, PINO_INGEST_API_KEY: KEY, XDG_STATE_HOME: join(dir, 'state') }
  const file = join(dir, 'app.log')
  writeFileSync(file, lines.split('\n').slice(0, 100).join('\n'))
  expect(await runCli(['send', file], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('1 entry') as string,
  })
})

test.each(PAGES)('pipe and spool replay, %s: exit 1, the entries stay on disk', async (page, type) => {
  const site = await siteWith(page, type)
  const env = { PINO_INGEST_URL: site.url, PINO_INGEST_API_KEY: KEY, PINO_INGEST_SPOOL_DIR: scratch() }
  const piped = await runCli(['--quiet'], env, lines)
  expect(piped.code).toBe(1)
  expect(piped.stderr).toContain(`status 200, ${type}: ${page}`)
  const replayed = await runCli(['spool', 'replay', '--all', '--json'], env)
  expect(replayed.code).toBe(1)
  expect(JSON.parse(replayed.stdout.toString())).toMatchObject({
    accepted: 0,
    kept: COUNT,
    lastFailure: expect.stringContaining('status 200'),
  })
  site.recover()
  expect(await runCli(['spool', 'replay', '--all'], env)).toMatchObject({ code: 0 })
  expect(site.accepted.toSorted()).toEqual(messages)
})

test('flush() returns spooled, and the next start sends everything', async () => {
  const [[page, type]] = PAGES
  const site = await siteWith(page, type)
  const env = { PINO_INGEST_SPOOL_DIR: scratch() }
  const options = { url: site.url, apiKey: KEY, requestTimeoutMs: 500 }
  const app = startApp({ mode: 'target', options, count: COUNT, end: 'flush-all' }, env)
  const { state, account } = (await app.heard('flushed')).payload as FlushResult
  expect(state).toBe('spooled')
  expect(account).toMatchObject({ accepted: 0, pending: COUNT, balances: true })
  app.child.kill('SIGKILL')
  await app.done
  site.recover()
  expect(
    await runCli(['spool', 'replay', '--all'], { ...env, PINO_INGEST_URL: site.url, PINO_INGEST_API_KEY: KEY }),
  ).toMatchObject({ code: 0 })
  expect(site.accepted).toHaveLength(COUNT)
})
