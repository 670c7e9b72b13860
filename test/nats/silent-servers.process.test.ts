/** Processes end although the NATS servers accept connections and never reply. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { runCli, startCli } from '../cli/run-cli.js'
import { runApp } from '../process/run-app.js'
import { UNLESS_IT_HANGS } from './nats-servers.js'
import { silentServers } from './silent-servers.js'

async function start({ onTestFinished }: TestContext, count: number) {
  let connected = (): void => {}
  const isConnected = new Promise<void>((resolve) => (connected = resolve))
  const servers = await silentServers(count, onTestFinished, () => connected())
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-silent-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  return { servers, isConnected, dir, env: { PINO_INGEST_NATS_SERVERS: servers.join(), PINO_INGEST_SPOOL_DIR: dir } }
}

describe.concurrent('a command ends', UNLESS_IT_HANGS, () => {
  test('spool replay', async (context) => {
    const { env } = await start(context, 1)
    await runApp({ mode: 'target', end: 'exit', count: 5, options: { shutdownTimeoutMs: 500 } }, env)
    const { code, stdout } = await runCli(
      ['spool', 'replay', '--all', '--timeout', '1', '--json'],
      env,
      '',
      context.onTestFinished,
    )
    expect({ code, out: stdout.toString() }).toEqual({ code: 1, out: expect.stringContaining('--timeout') })
  })

  test('send, interrupted', async (context) => {
    const { env, dir, isConnected } = await start(context, 1)
    const file = join(dir, 'app.log')
    writeFileSync(file, '{"level":30,"time":1790000000000,"msg":"hello"}\n')
    const { child, done } = startCli(['send', file, '--state', join(dir, 'state')], env, context.onTestFinished)
    await isConnected
    child.kill('SIGINT')
    expect((await done).stderr).toContain('interrupted')
  })

  test('a pipe', async (context) => {
    const { env } = await start(context, 1)
    const { stderr } = await runCli(
      [],
      { ...env, PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '1000' },
      '{"level":30,"msg":"hello"}\n',
      context.onTestFinished,
    )
    expect(stderr).toContain('not yet acknowledged')
  })

  test('forward init', async (context) => {
    const { env } = await start(context, 1)
    expect(await runCli(['forward', 'init'], env, '', context.onTestFinished)).toMatchObject({ code: 1 })
  })

  test('doctor', async (context) => {
    const { env } = await start(context, 2)
    expect(await runCli(['doctor'], env, '', context.onTestFinished)).toMatchObject({ code: 1 })
  })
})

test.concurrent('an application ends in-process within the time of one request', UNLESS_IT_HANGS, async (context) => {
  // Trying each server would take 3 s.
  const { servers, dir } = await start(context, 40)
  const { tookMs, stderr } = await runApp({
    mode: 'stream',
    end: 'natural',
    count: 5,
    options: { nats: { servers }, spool: { dir }, requestTimeoutMs: 1_000, shutdownTimeoutMs: 1_000 },
  })
  expect(stderr).toContain('5 entries are not yet acknowledged')
  expect(tookMs).toBeLessThan(60_000)
})
