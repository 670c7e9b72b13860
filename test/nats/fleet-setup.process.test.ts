/** `pino-ingest forward init` and `pino-ingest doctor` with real servers. */
import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamManager } from '@nats-io/jetstream'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Check } from '../../src/cli/shared/check.js'
import { runCli } from '../cli/run-cli.js'
import { natsServers, SKIPS_NATS } from './nats-servers.js'

const NAMES = ['PINO_INGEST', 'PINO_INGEST_DEAD', 'KV_PINO_INGEST_STATE', 'forward-logs', 'forward-requests']
const SIZES = ['--max-bytes', '10mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1MiB']
const SMALL = ['--replicas', '1', ...SIZES]

async function init(urls: readonly string[], args: readonly string[]) {
  const { code, stdout, stderr } = await runCli(['forward', 'init', '--json', ...args], {
    PINO_INGEST_NATS_SERVERS: urls.join(','),
  })
  const isDone = stdout.length > 0
  const checks = isDone ? (JSON.parse(stdout.toString()) as readonly Check[]) : []
  return { code, stderr, checks, ...(!isDone && (JSON.parse(stderr) as { readonly error: object })) }
}

/** The part that each check is about. */
const namesOf = (checks: readonly Check[]): string[] => [
  ...new Set(checks.map(({ detail }) => detail.split(':')[0] ?? '')),
]

async function examine(urls: readonly string[]) {
  const { code, stdout } = await runCli(['doctor', '--json'], { PINO_INGEST_NATS_SERVERS: urls.join(',') })
  const checks = JSON.parse(stdout.toString()) as readonly Check[]
  return { code, checks, failed: checks.filter(({ ok }) => !ok) }
}

async function manage(urls: readonly string[]): Promise<JetStreamManager> {
  const connection = await connect({ servers: [...urls] })
  onTestFinished(() => connection.close())
  return jetstreamManager(connection)
}

/** A proxy to a server that reports another version. */
async function asVersion(url: string, version: string, cluster?: string): Promise<string> {
  const reported = JSON.stringify({ version, cluster }).slice(1, -1)
  const proxy = createServer((client) => {
    const server = createConnection(Number(new URL(url).port), '127.0.0.1')
    for (const socket of [client, server]) socket.on('error', () => {})
    client.pipe(server)
    server.on('data', (data) => client.write(data.toString('latin1').replace(/"version":"[^"]*"/, reported), 'latin1'))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  return `127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

describe.skipIf(SKIPS_NATS)('forward init and doctor', () => {
  it('set up one server, also concurrently and again, and check it without storing anything', async () => {
    const { urls } = await natsServers()
    const both = await Promise.all([1, 2].map(() => init(urls, SMALL)))
    for (const { code, checks } of both) expect([code, namesOf(checks)]).toEqual([0, NAMES])
    const { streams, consumers } = await manage(urls)
    expect((await streams.info('PINO_INGEST')).config).toMatchObject({
      subjects: ['PINO_INGEST.logs', 'PINO_INGEST.requests'],
      retention: 'workqueue',
      storage: 'file',
      discard: 'new',
      num_replicas: 1,
      max_bytes: 10 * 2 ** 20,
      max_age: 0,
      duplicate_window: 600e9,
      deny_purge: true,
    })
    expect((await consumers.info('PINO_INGEST', 'forward-logs')).config).toMatchObject({
      ack_policy: 'explicit',
      ack_wait: 30e9,
      max_deliver: -1,
      filter_subject: 'PINO_INGEST.logs',
    })
    // Only the leader answers requests for keys.
    const bucket = { allow_direct: false, max_msgs_per_subject: 1, max_age: 604_800e9, deny_delete: true }
    expect((await streams.info('KV_PINO_INGEST_STATE')).config).toMatchObject(bucket)
    // Replicas and sizes are compared only if they are set by flags.
    const again = await init(urls, [])
    expect([again.code, namesOf(again.checks)]).toEqual([0, NAMES])

    const { code, failed, checks } = await examine(urls)
    expect([code, failed]).toEqual([0, []])
    const names = checks.map(({ name }) => name)
    const present = ['server', 'payload', 'stream', 'stream replicas', 'consumer', 'bucket', 'publish', 'service']
    expect(names).toEqual(expect.arrayContaining(present))
    expect(names).not.toContain('address')
    expect((await streams.info('PINO_INGEST')).state.last_seq).toBe(0)
  })

  it('report each difference with the command to fix it, a nearly full queue and a small max_payload', async () => {
    const { urls } = await natsServers({ config: 'max_payload: 65536' })
    const { streams, consumers } = await manage(urls)
    const { config } = await streams.add({
      name: 'PINO_INGEST',
      subjects: ['PINO_INGEST.*'],
      retention: 'workqueue',
      max_age: 3_600e9,
      max_bytes: 100_000,
    })
    await consumers.add('PINO_INGEST', {
      durable_name: 'forward-logs',
      ack_policy: 'explicit',
      filter_subject: 'PINO_INGEST.logs',
      max_deliver: 3,
      // The server reports the first one as `ack_wait`.
      backoff: [1e9],
    })
    const connection = await connect({ servers: urls })
    for (const bytes of [60_000, 30_000]) await connection.request('PINO_INGEST.logs', new Uint8Array(bytes))
    await connection.close()
    const differing = await init(urls, SMALL)
    expect(differing.code).toBe(1)
    expect(differing.checks.filter(({ ok }) => !ok).map(({ detail }) => detail.split(' ', 2).join(' '))).toEqual([
      ...['discard', 'max_bytes', 'duplicate_window', 'max_age'].map((setting) => `PINO_INGEST: ${setting}`),
      ...['ack_wait', 'max_deliver', 'max_ack_pending'].map((setting) => `forward-logs: ${setting}`),
    ])
    expect(differing.checks[0]?.fix).toContain('nats stream edit PINO_INGEST --discard new')
    expect((await streams.info('PINO_INGEST')).config).toEqual(config)

    const { failed, checks } = await examine(urls)
    const found = failed.filter(({ name }) => ['stream', 'consumer'].includes(name))
    expect(found.map(({ detail }) => detail.split(' ')[1])).toEqual([
      'discard',
      'duplicate_window',
      'max_age',
      'ack_wait',
      'max_deliver',
      'max_ack_pending',
    ])
    const advised = checks.filter(({ ok, fix }) => ok && fix !== undefined).map(({ name }) => name)
    expect(advised).toEqual(expect.arrayContaining(['payload', 'stream']))
  })

  it('create three replicas in a cluster, and report that a single server cannot', async () => {
    const [cluster, alone] = await Promise.all([natsServers({ nodes: 3 }), natsServers()])
    const created = await init(cluster.urls, SIZES)
    expect([created.code, namesOf(created.checks)]).toEqual([0, NAMES])
    const { streams } = await manage(cluster.urls)
    expect((await streams.info('PINO_INGEST')).config.num_replicas).toBe(3)
    const { code, checks } = await init(alone.urls, SIZES)
    expect([code, namesOf(checks)]).toEqual([1, ['PINO_INGEST']])
    expect(checks[0]?.fix).toContain('--replicas 1')
  })

  it('report insufficient storage, missing streams and unreachable servers', async () => {
    const servers = await natsServers({ maxStore: '50MB' })
    const { urls } = servers
    const full = await init(urls, ['--replicas', '1', '--max-bytes', '1gb'])
    expect([full.code, full.checks[0]?.fix]).toEqual([1, expect.stringContaining('--max-bytes')])
    const { code, failed } = await examine([...urls, '127.0.0.1:1'])
    expect([code, new Set(failed.map(({ name }) => name))]).toEqual([
      1,
      new Set(['server', 'stream', 'dead-letter stream', 'bucket', 'consumer', 'publish']),
    ])
    await servers.killAll()
    expect(await init(urls, [])).toMatchObject({ code: 1, error: { code: 'UNAVAILABLE' } })
    expect((await examine(urls)).failed.map(({ name }) => name)).toEqual(['server'])
  })

  it('refuse a cluster before nats-server 2.10.23, and warn about an older single server', async () => {
    const [url = ''] = (await natsServers()).urls
    const cluster = await asVersion(url, '2.10.22', 'fleet')
    expect(await init([cluster], SMALL)).toMatchObject({
      code: 1,
      error: { code: 'VERSION', message: expect.stringMatching(/2\.10\.22.*2\.10\.23/) as string },
    })
    expect((await examine([cluster])).failed).toContainEqual(
      expect.objectContaining({ name: 'server', detail: expect.stringContaining('2.10.22') as string }),
    )
    const env = {
      PINO_INGEST_NATS_SERVERS: cluster,
      PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1',
      PINO_INGEST_API_KEY: 'any',
    }
    const started = await runCli(['forward'], env)
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/2\.10\.22.*2\.10\.23/)])
    const alone = await asVersion(url, '2.9.10')
    const created = await init([alone], SMALL)
    expect([created.code, namesOf(created.checks)]).toEqual([0, NAMES])
    expect(created.stderr).toMatch(/2\.9\.10.*2\.10\.23/)
    const { checks, failed } = await examine([alone])
    expect(failed).toEqual([])
    expect(checks.find(({ name }) => name === 'server')?.fix).toContain('2.10.23')
  })

  it('refuse invalid flags and missing servers before they connect', async () => {
    for (const args of [['--replicas', '6'], ['--max-bytes', '10'], ['extra']])
      expect((await runCli(['forward', 'init', ...args], { PINO_INGEST_NATS_SERVERS: '127.0.0.1:1' })).code).toBe(2)
    expect((await runCli(['forward', 'init'], { NODE_ENV: 'production' })).code).toBe(2)
  })
})
