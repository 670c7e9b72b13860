/** Processes end although the NATS servers accept connections and hang, before or after the handshake. Needs no nats-server. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { runCli, startCli } from '../cli/run-cli.js'
import { runApp } from '../process/run-app.js'
import { UNLESS_IT_HANGS } from './nats-servers.js'

const INFO = JSON.stringify({ server_id: 'x', version: '2.9.10', proto: 1, headers: true, max_payload: 1_048_576 })

async function start({ onTestFinished }: TestContext, { count = 1, greets = false } = {}) {
  let connected = (): void => {}
  const isConnected = new Promise<void>((resolve) => (connected = resolve))
  const sockets: Socket[] = []
  const servers = Array.from({ length: count }, () =>
    createServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      connected()
      if (!greets) return
      socket.write(`INFO ${INFO}\r\n`)
      socket.once('data', () => socket.write('PONG\r\n'))
    }),
  )
  await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')))
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-hung-'))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    for (const server of servers) server.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const addresses = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`)
  return {
    addresses,
    isConnected,
    dir,
    env: { PINO_INGEST_NATS_SERVERS: addresses.join(), PINO_INGEST_SPOOL_DIR: dir },
  }
}

describe.concurrent('servers that hang', UNLESS_IT_HANGS, () => {
  test.for([false, true])(
    'fail a command, and a signal ends forward (after the handshake: %s)',
    async (greets, context) => {
      const { env, isConnected } = await start(context, { count: greets ? 1 : 2, greets })
      const service = { PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1', PINO_INGEST_API_KEY: 'any-key' }
      const { child, done } = startCli(['forward'], { ...env, ...service }, context.onTestFinished)
      await isConnected
      child.kill('SIGTERM')
      expect((await done).code).toBe(0)
      const commands = [['forward', 'init'], ['forward', 'dead', 'ls'], ['doctor']]
      const results = await Promise.all(commands.map((args) => runCli(args, env, '', context.onTestFinished)))
      expect(results.map(({ code }) => code)).toEqual([1, 1, 1])
    },
  )

  test('end spool replay after its --timeout', async (context) => {
    const { env } = await start(context)
    await runApp({ mode: 'target', end: 'exit', count: 5, options: { shutdownTimeoutMs: 500 } }, env)
    const args = ['spool', 'replay', '--all', '--timeout', '1', '--json']
    const { code, stdout } = await runCli(args, env, '', context.onTestFinished)
    expect({ code, out: stdout.toString() }).toEqual({ code: 1, out: expect.stringContaining('--timeout') })
  })

  test('let send be interrupted, and a pipe end', async (context) => {
    const { env, dir, isConnected } = await start(context)
    const line = '{"level":30,"time":1790000000000,"msg":"hello"}\n'
    writeFileSync(join(dir, 'app.log'), line)
    const args = ['send', join(dir, 'app.log'), '--state', join(dir, 'state')]
    const { child, done } = startCli(args, env, context.onTestFinished)
    await isConnected
    child.kill('SIGINT')
    expect((await done).stderr).toContain('interrupted')
    const piped = await runCli([], { ...env, PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '1000' }, line, context.onTestFinished)
    expect(piped.stderr).toContain('not yet acknowledged')
  })

  test('let an application end in-process within the time of one request', async (context) => {
    // Trying each server would take 3 s.
    const { addresses, dir } = await start(context, { count: 40 })
    const { tookMs, stderr } = await runApp({
      mode: 'stream',
      end: 'natural',
      count: 5,
      options: { nats: { servers: addresses }, spool: { dir }, requestTimeoutMs: 1_000, shutdownTimeoutMs: 1_000 },
    })
    expect(stderr).toContain('5 entries are not yet acknowledged')
    expect(tookMs).toBeLessThan(60_000)
  })
})
