/** Commands that publish batches if `nats` is set. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import { runApp } from '../process/run-app.js'
import { SKIPS_NATS, useNatsServers } from './nats-servers.js'
import { preparePublishing } from './publish-app.js'
import { upTo } from './queue.js'
import type { Queue } from './queue.js'

const servers = useNatsServers()

async function start(): Promise<{ queue: Queue; env: Record<string, string>; dir: string }> {
  const { queue, spool } = preparePublishing({ onTestFinished }, servers())
  await queue.create()
  const env = {
    PINO_INGEST_NATS_SERVERS: servers().urls.join(),
    PINO_INGEST_NATS_STREAM: queue.names.stream,
    PINO_INGEST_SPOOL_DIR: spool,
  }
  return { queue, dir: spool, env }
}

function linesOf(count: number): string {
  return upTo(count)
    .map((n) => `${JSON.stringify({ level: 30, time: 1_700_000_000_000 + n, n, msg: 'numbered' })}\n`)
    .join('')
}

describe.skipIf(SKIPS_NATS)('with nats', () => {
  test('spool ls lists entries of an ended process, and spool replay publishes them', async () => {
    const { queue, env } = await start()
    await runApp({ mode: 'stream', end: 'exit', count: 50, options: {} }, env)
    const listed = await runCli(['spool', 'ls', '--json'], env)
    expect(listed.stdout.toString()).toContain('50')
    const replayed = await runCli(['spool', 'replay', '--all'], env)
    expect(replayed).toMatchObject({ code: 0, stderr: '' })
    expect(await queue.numbers(50)).toEqual(upTo(50))
    expect((await runCli(['spool', 'ls', '--json'], env)).stdout.toString()).not.toContain('"entries":50')
  })

  test('the pipe publishes its input; send publishes a file, and fails if the stream is missing', async () => {
    const { queue, env, dir } = await start()
    expect(await runCli(['--quiet'], env, linesOf(30))).toMatchObject({ code: 0 })
    expect(await queue.take()).toEqual(upTo(30))
    const file = join(dir, 'app.log')
    writeFileSync(file, linesOf(250))
    const args = ['send', file, '--state', join(dir, 'state')]
    expect(await runCli(args, env)).toMatchObject({ code: 0 })
    expect(await queue.numbers(250)).toEqual(upTo(250))
    const missing = await runCli(['send', file, '--state', join(dir, 'other')], {
      ...env,
      PINO_INGEST_NATS_STREAM: 'NONE',
    })
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('pino-ingest forward init') })
  })
})
