/** `pino-ingest doctor` with NATS: finds each problem and stores nothing. */
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamManager } from '@nats-io/jetstream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import type { CliEnv } from '../cli/run-cli.js'
import { natsServers, SKIPS_NATS } from './nats-servers.js'

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly fix?: string
}

const SIZES = ['--replicas', '1', '--max-bytes', '1mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1mb']

async function examine(
  env: CliEnv,
): Promise<{ readonly code: number | null; readonly failed: string[]; readonly checks: Check[] }> {
  const { code, stdout } = await runCli(['doctor', '--json'], env)
  const checks = JSON.parse(stdout.toString()) as Check[]
  return { code, checks, failed: checks.filter(({ ok }) => !ok).map(({ name }) => name) }
}

async function manage(urls: readonly string[]): Promise<JetStreamManager> {
  const connection = await connect({ servers: [...urls] })
  onTestFinished(() => connection.close())
  return jetstreamManager(connection)
}

describe.skipIf(SKIPS_NATS)('doctor with nats', () => {
  it('passes for a complete fleet, stores nothing, and sends nothing to the service', async () => {
    const { urls } = await natsServers()
    const env = { PINO_INGEST_NATS_SERVERS: urls.join(',') }
    await runCli(['forward', 'init', ...SIZES], env)
    const { code, failed, checks } = await examine(env)
    expect([code, failed]).toEqual([0, []])
    const names = checks.map(({ name }) => name)
    for (const name of ['server', 'payload', 'stream', 'stream replicas', 'consumer', 'bucket', 'publish', 'service'])
      expect(names).toContain(name)
    for (const name of ['address', 'key', 'clock']) expect(names).not.toContain(name)
    expect((await (await manage(urls)).streams.info('PINO_INGEST')).state.last_seq).toBe(0)
  })

  it('reports an unreachable server and missing streams, and still runs the other checks', async () => {
    const { urls } = await natsServers()
    const { code, failed } = await examine({ PINO_INGEST_NATS_SERVERS: `${urls.join(',')},127.0.0.1:1` })
    expect(code).toBe(1)
    expect(new Set(failed)).toEqual(new Set(['server', 'stream', 'consumer', 'dead letters', 'bucket', 'publish']))
    expect((await examine({ PINO_INGEST_NATS_SERVERS: '127.0.0.1:1' })).failed).toEqual(['server'])
  })

  it('reports settings that lose entries, a nearly full stream and a small max_payload', async () => {
    const { urls } = await natsServers({ config: 'max_payload: 65536' })
    const env = { PINO_INGEST_NATS_SERVERS: urls.join(',') }
    const { streams } = await manage(urls)
    await streams.add({
      name: 'PINO_INGEST',
      subjects: ['pino-ingest.*'],
      retention: 'workqueue',
      discard: 'new',
      max_bytes: 100_000,
      max_age: 1_000e9,
      duplicate_window: 600e9,
      deny_purge: true,
    })
    const connection = await connect({ servers: urls })
    await connection.request('pino-ingest.logs', new Uint8Array(60_000))
    await connection.request('pino-ingest.logs', new Uint8Array(30_000))
    await connection.close()
    const { code, checks } = await examine(env)
    expect(code).toBe(1)
    const found = (name: string): Check[] => checks.filter((one) => one.name === name)
    expect(found('stream').map(({ ok }) => ok)).toEqual([true, false])
    expect(found('stream')[0]?.fix).toBeDefined()
    expect(found('stream')[1]?.detail).toContain('max_age')
    expect(found('payload')[0]?.fix).toContain('max_payload')
  })
})
