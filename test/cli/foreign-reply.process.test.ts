/** A page with status 200 instead of the service's reply: nothing counts as sent, and everything arrives when the service is back. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FlushResult } from '../../src/transport/flush-message.js'
import { httpServer } from '../client/http-servers.js'
import { scratch } from '../client/release/clones.js'
import { startApp } from '../process/run-app.js'
import { runCli } from './run-cli.js'
import { runInProcess } from './run-in-process.js'

const KEY = 'foreign-key-77c1'
const COUNT = 250

interface Site {
  readonly url: string
  /** Messages of accepted entries. */
  readonly accepted: string[]
  /** Replaces the page by the service. */
  readonly replacePage: () => void
}

async function siteWith(page: string, type: string): Promise<Site> {
  let isUp = false
  const accepted: string[] = []
  const server = await httpServer((response, { body }) => {
    if (!isUp) return void response.writeHead(200, { 'content-type': type }).end(page)
    const { logs } = JSON.parse(body) as { logs: { message: string }[] }
    accepted.push(...logs.map(({ message }) => message))
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ accepted: logs.length, rejected: 0, message: '', errors: [] }))
  })
  return { url: `${server.origin}/api/v1`, accepted, replacePage: () => (isUp = true) }
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
  expect(await runInProcess(['send', file], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`status 200, ${type}: ${page}`),
  })
  site.replacePage()
  expect(await runInProcess(['send', file], env)).toMatchObject({ code: 0, err: '' })
  expect(site.accepted.toSorted()).toEqual(messages)
})

test('pipe, spool replay and flush(): exit 1 and spooled, the entries stay on disk', async () => {
  const [[page, type]] = PAGES
  const site = await siteWith(page, type)
  const dir = scratch()
  const env = { PINO_INGEST_URL: site.url, PINO_INGEST_API_KEY: KEY, PINO_INGEST_SPOOL_DIR: dir }
  const piped = await runCli(['--quiet'], env, lines)
  expect(piped.code).toBe(1)
  expect(piped.stderr).toContain(`status 200, ${type}: ${page}`)
  const replayed = await runInProcess(['spool', 'replay', '--all', '--json', '--timeout', '5'], env)
  expect([replayed.code, JSON.parse(replayed.out)]).toMatchObject([
    1,
    { accepted: 0, kept: COUNT, lastFailure: expect.stringContaining('status 200') },
  ])
  const options = { url: site.url, apiKey: KEY, requestTimeoutMs: 500 }
  const app = startApp(
    { mode: 'target', options, count: COUNT, end: 'flush-all' },
    { PINO_INGEST_SPOOL_DIR: scratch() },
  )
  const { state, account } = (await app.heard('flushed')).payload as FlushResult
  expect([state, account]).toMatchObject(['spooled', { accepted: 0, pending: COUNT, balances: true }])
  app.child.kill('SIGKILL')
  site.replacePage()
  expect(await runInProcess(['spool', 'replay', '--all'], env)).toMatchObject({ code: 0 })
  expect(site.accepted.toSorted()).toEqual(messages)
})
