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
import { SKIPS_NATS, UNLESS_IT_HANGS, useNatsServers } from './nats-servers.js'

const SIZES = ['--max-bytes', '10mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1MiB']
const SMALL = ['--replicas', '1', ...SIZES]

const servers = useNatsServers({ config: 'max_payload: 65536', maxStore: '50MB' })

interface Target {
  readonly urls: readonly string[]
  readonly stream: string
}

const envOf = ({ urls, stream }: Target) => ({
  PINO_INGEST_NATS_SERVERS: urls.join(','),
  PINO_INGEST_NATS_STREAM: stream,
})
const partsOf = ({ stream }: Target) => [
  stream,
  `${stream}_DEAD`,
  `KV_${stream}_STATE`,
  'forward-logs',
  'forward-requests',
]

async function init(target: Target, args: readonly string[]) {
  const { code, stdout, stderr } = await runCli(['forward', 'init', '--json', ...args], envOf(target))
  const isDone = stdout.length > 0
  const checks = isDone ? (JSON.parse(stdout.toString()) as readonly Check[]) : []
  return { code, stderr, checks, ...(!isDone && (JSON.parse(stderr) as { readonly error: object })) }
}

/** The part that each check is about. */
const namesOf = (checks: readonly Check[]): string[] => [
  ...new Set(checks.map(({ detail }) => detail.split(':')[0] ?? '')),
]

async function examine(target: Target) {
  const { code, stdout } = await runCli(['doctor', '--json'], envOf(target))
  const checks = JSON.parse(stdout.toString()) as readonly Check[]
  return { code, checks, failed: checks.filter(({ ok }) => !ok) }
}

async function manage({ urls }: Target): Promise<JetStreamManager> {
  const connection = await connect({ servers: [...urls] })
  onTestFinished(() => connection.close())
  return jetstreamManager(connection)
}

/** A proxy to a server that reports another version, and a cluster. */
async function asVersion(url: string, version: string): Promise<string> {
  const reported = JSON.stringify({ version, cluster: 'fleet' }).slice(1, -1)
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

describe.skipIf(SKIPS_NATS)('forward init and doctor', UNLESS_IT_HANGS, () => {
  it('set up one server, also concurrently and again, and check it without storing anything', async () => {
    const target = { urls: servers().urls, stream: 'ONE' }
    const both = await Promise.all([1, 2].map(() => init(target, SMALL)))
    for (const { code, checks } of both) expect([code, namesOf(checks)]).toEqual([0, partsOf(target)])
    const { streams, consumers } = await manage(target)
    expect((await streams.info('ONE')).config).toMatchObject({
      subjects: ['ONE.logs', 'ONE.requests'],
      retention: 'workqueue',
      storage: 'file',
      discard: 'new',
      num_replicas: 1,
      max_bytes: 10 * 2 ** 20,
      max_age: 0,
      duplicate_window: 600e9,
      deny_purge: true,
    })
    expect((await consumers.info('ONE', 'forward-logs')).config).toMatchObject({
      ack_policy: 'explicit',
      ack_wait: 30e9,
      max_deliver: -1,
      filter_subject: 'ONE.logs',
    })
    // Only the leader answers requests for keys.
    const bucket = { allow_direct: false, max_msgs_per_subject: 1, max_age: 604_800e9, deny_delete: true }
    expect((await streams.info('KV_ONE_STATE')).config).toMatchObject(bucket)
    // Replicas and sizes are compared only if they are set by flags.
    const again = await init(target, [])
    expect([again.code, namesOf(again.checks)]).toEqual([0, partsOf(target)])

    const { code, failed, checks } = await examine(target)
    expect([code, failed]).toEqual([0, []])
    const names = checks.map(({ name }) => name)
    const present = ['server', 'payload', 'stream', 'stream replicas', 'consumer', 'bucket', 'publish', 'service']
    expect(names).toEqual(expect.arrayContaining(present))
    expect(names).not.toContain('address')
    expect((await streams.info('ONE')).state.last_seq).toBe(0)
  })

  it('report each difference with the command to fix it, a nearly full queue and a small max_payload', async () => {
    const { urls } = servers()
    const target = { urls, stream: 'TWO' }
    const { streams, consumers } = await manage(target)
    const { config } = await streams.add({
      name: 'TWO',
      subjects: ['TWO.*'],
      retention: 'workqueue',
      max_age: 3_600e9,
      max_bytes: 100_000,
    })
    await consumers.add('TWO', {
      durable_name: 'forward-logs',
      ack_policy: 'explicit',
      filter_subject: 'TWO.logs',
      max_deliver: 3,
      // The server reports the first one as `ack_wait`.
      backoff: [1e9],
    })
    const connection = await connect({ servers: urls })
    for (const bytes of [60_000, 30_000]) await connection.request('TWO.logs', new Uint8Array(bytes))
    await connection.close()
    const differing = await init(target, SMALL)
    expect(differing.code).toBe(1)
    expect(differing.checks.filter(({ ok }) => !ok).map(({ detail }) => detail.split(' ', 2).join(' '))).toEqual([
      ...['discard', 'max_bytes', 'duplicate_window', 'max_age'].map((setting) => `TWO: ${setting}`),
      ...['ack_wait', 'max_deliver', 'max_ack_pending'].map((setting) => `forward-logs: ${setting}`),
    ])
    expect(differing.checks[0]?.fix).toContain('nats stream edit TWO --discard new')
    expect((await streams.info('TWO')).config).toEqual(config)

    const { failed, checks } = await examine(target)
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

  it('report replicas that a single server cannot have, insufficient storage, missing streams and unreachable servers', async () => {
    const target = { urls: servers().urls, stream: 'THREE' }
    const replicated = await init(target, SIZES)
    expect([replicated.code, namesOf(replicated.checks)]).toEqual([1, ['THREE']])
    expect(replicated.checks[0]?.fix).toContain('--replicas 1')
    const full = await init(target, ['--replicas', '1', '--max-bytes', '1gb'])
    expect([full.code, full.checks[0]?.fix]).toEqual([1, expect.stringContaining('--max-bytes')])
    const { code, failed } = await examine({ ...target, urls: [...target.urls, '127.0.0.1:1'] })
    expect([code, new Set(failed.map(({ name }) => name))]).toEqual([
      1,
      new Set(['server', 'stream', 'dead-letter stream', 'bucket', 'consumer', 'publish']),
    ])
    const none = { ...target, urls: ['127.0.0.1:1'] }
    expect(await init(none, [])).toMatchObject({ code: 1, error: { code: 'UNAVAILABLE' } })
    expect((await examine(none)).failed.map(({ name }) => name)).toEqual(['server'])
  })

  it('refuse a cluster before nats-server 2.10.23', async () => {
    const [url = ''] = servers().urls
    const cluster = { urls: [await asVersion(url, '2.10.22')], stream: 'FOUR' }
    expect(await init(cluster, SMALL)).toMatchObject({
      code: 1,
      error: { code: 'VERSION', message: expect.stringMatching(/2\.10\.22.*2\.10\.23/) as string },
    })
    expect((await examine(cluster)).failed).toContainEqual(
      expect.objectContaining({ name: 'server', detail: expect.stringContaining('2.10.22') as string }),
    )
    const env = {
      ...envOf(cluster),
      PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1',
      PINO_INGEST_API_KEY: 'any',
    }
    const started = await runCli(['forward'], env)
    expect([started.code, started.stderr]).toEqual([1, expect.stringMatching(/2\.10\.22.*2\.10\.23/)])
  })

  it('refuse invalid flags and missing servers before they connect', async () => {
    const unreachable = { PINO_INGEST_NATS_SERVERS: '127.0.0.1:1' }
    const invalid = [
      ['--replicas', '6'],
      ['--max-bytes', '10'],
    ]
    const results = await Promise.all([
      ...invalid.map((args) => runCli(['forward', 'init', ...args], unreachable)),
      runCli(['forward', 'init'], { NODE_ENV: 'production' }),
    ])
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2])
  })
})
