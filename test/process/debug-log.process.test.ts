/** `PINO_INGEST_LOG_TO=debug` and `--debug`, in the worker, in process and on the command line: what happened, without key and entries. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import { runApp } from './run-app.js'

const KEY = 'debug-key-5b1c77e0'
const TEXT = 'words of a record'

/** The first request fails, and the reply quotes the key and a record. */
async function failingOnce(): Promise<string> {
  let requests = 0
  const server = createServer((request, response) => {
    request.resume()
    if (++requests === 1) return void response.writeHead(503).end(`${KEY} ${TEXT}`)
    response.setHeader('content-type', 'application/json').end('{"accepted":1,"rejected":0,"errors":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
}

function check(stderr: string): void {
  const lines = stderr.split('\n').filter((line) => line.startsWith('pino-ingest: debug '))
  const [id = ''] = /[\da-f-]{36}/.exec(lines[1] ?? '') ?? []
  expect(lines[0]).toMatch(/pino-ingest \d+\.\d+\.\d+, Node \d+\.\d+\.\d+$/)
  const of = (pattern: RegExp): string[] => lines.filter((line) => line.includes(id) && pattern.test(line))
  expect(of(/sealed, 1 entry, \d+ bytes/)).toHaveLength(1)
  expect(of(/attempt 1: status 503, retryable, took \d+ ms$/)).toHaveLength(1)
  expect(of(/attempt 2: sent again, probe/)).toHaveLength(1)
  expect(of(/attempt 2: status 200, accepted 1, rejected 0, took \d+ ms$/)).toHaveLength(1)
  for (const secret of [KEY, TEXT]) expect(lines.join('\n')).not.toContain(secret)
}

test.each(['target', 'stream'] as const)('the transport as %s', async (mode) => {
  const url = await failingOnce()
  const options = { url, apiKey: KEY, retry: { maxMs: 10 } }
  const plan = { mode, options, count: 1, end: 'flush' } as const
  check((await runApp(plan, { PINO_INGEST_LOG_TO: 'debug' })).stderr)
})

test('the command line; without --debug there is no such line', async () => {
  const env = { PINO_INGEST_URL: await failingOnce(), PINO_INGEST_API_KEY: KEY }
  check((await runCli(['--debug', '--quiet'], env, `${TEXT}\n`)).stderr)
  expect((await runCli(['--quiet'], env, `${TEXT}\n`)).stderr).not.toContain('debug')
})

test('a call of the command line: attempts and waits, without the monitor token', async () => {
  const env = { PINO_INGEST_URL: await failingOnce(), PINO_INGEST_MONITOR_TOKEN: 'monitor-token-77aa' }
  const { stderr } = await runCli(['heartbeat', '--debug'], env)
  expect(stderr).toMatch(
    /POST \/heartbeat\/<token>, attempt 1: status 503 in \d+ ms\n.*: retry in \d+ ms\n.*attempt 2: status 200/,
  )
  expect(stderr).not.toContain('monitor-token')
})
