/** `pino-ingest forward init` with real servers. */
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamManager } from '@nats-io/jetstream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../cli/run-cli.js'
import type { CliResult } from '../cli/run-cli.js'
import { natsServers, SKIPS_NATS } from './nats-servers.js'
import type { NatsServers } from './nats-servers.js'

interface Item {
  readonly name: string
  readonly status: string
  readonly problem?: string
  readonly differences: readonly { readonly setting: string; readonly is: string }[]
}

const SMALL = ['--max-bytes', '10mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1MiB']

const init = ({ urls }: NatsServers, args: readonly string[]): Promise<CliResult> =>
  runCli(['forward', 'init', ...args], { PINO_INGEST_NATS_SERVERS: urls.join(',') })
const itemsOf = ({ stdout }: CliResult): readonly Item[] =>
  (JSON.parse(stdout.toString()) as { readonly items: readonly Item[] }).items

async function manage(servers: NatsServers): Promise<JetStreamManager> {
  const connection = await connect({ servers: servers.urls })
  onTestFinished(() => connection.close())
  return jetstreamManager(connection)
}

describe.skipIf(SKIPS_NATS)('forward init', () => {
  it('creates everything on one server, accepts existing items, and can run concurrently', async () => {
    const servers = await natsServers()
    const both = await Promise.all([1, 2].map(() => init(servers, ['--replicas', '1', '--json', ...SMALL])))
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    for (const name of ['PINO_INGEST', 'PINO_INGEST_DEAD', 'PINO_INGEST_STATE', 'forward-logs', 'forward-requests'])
      expect(both.flatMap((one) => itemsOf(one)).filter((item) => item.name === name)).toHaveLength(2)
    const { streams, consumers } = await manage(servers)
    const { config } = await streams.info('PINO_INGEST')
    expect(config).toMatchObject({
      subjects: ['pino-ingest.logs', 'pino-ingest.requests'],
      retention: 'workqueue',
      storage: 'file',
      discard: 'new',
      num_replicas: 1,
      max_bytes: 10 * 2 ** 20,
      max_age: 0,
      duplicate_window: 600e9,
    })
    expect((await consumers.info('PINO_INGEST', 'forward-logs')).config).toMatchObject({
      ack_policy: 'explicit',
      ack_wait: 30e9,
      max_deliver: -1,
      filter_subject: 'pino-ingest.logs',
    })
    // Replicas and sizes are compared only if they are set by flags.
    const again = await init(servers, ['--json'])
    expect(again.code).toBe(0)
    expect(itemsOf(again).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
  })

  it('reports each difference with the command to fix it, and changes nothing', async () => {
    const servers = await natsServers()
    const { streams, consumers } = await manage(servers)
    await streams.add({
      name: 'PINO_INGEST',
      subjects: ['pino-ingest.logs', 'pino-ingest.requests'],
      retention: 'workqueue',
      max_age: 3_600e9,
      max_bytes: 1e6,
    })
    await consumers.add('PINO_INGEST', {
      durable_name: 'forward-logs',
      ack_policy: 'explicit',
      filter_subject: 'pino-ingest.logs',
      max_deliver: 3,
    })
    const before = await streams.info('PINO_INGEST')
    const args = ['--replicas', '1', '--max-bytes', '2mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1mb']
    const asJson = await init(servers, [...args, '--json'])
    expect(asJson.code).toBe(1)
    const differences = Object.fromEntries(
      itemsOf(asJson).map(({ name, differences: found }) => [name, found.map(({ setting }) => setting)]),
    )
    expect(differences['PINO_INGEST']).toEqual(['discard', 'max_bytes', 'duplicate_window', 'max_age', 'deny_purge'])
    expect(differences['forward-logs']).toEqual(['max_deliver', 'max_ack_pending'])
    const asText = await init(servers, args)
    expect(asText.code).toBe(1)
    expect(asText.stdout.toString()).toContain('nats stream edit PINO_INGEST --discard new')
    expect((await streams.info('PINO_INGEST')).config).toEqual(before.config)
  })

  it('creates three replicas in a cluster, and reports that a single server cannot', async () => {
    const [cluster, alone] = await Promise.all([natsServers({ nodes: 3 }), natsServers()])
    expect((await init(cluster, SMALL)).code).toBe(0)
    const { streams } = await manage(cluster)
    expect((await streams.info('PINO_INGEST')).config.num_replicas).toBe(3)
    const refused = await init(alone, ['--json', ...SMALL])
    expect(refused.code).toBe(1)
    expect(itemsOf(refused)[0]).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('3 replicas') as string,
    })
  })

  it('reports insufficient storage and unreachable servers', async () => {
    const servers = await natsServers({ maxStore: '50MB' })
    const full = await init(servers, ['--replicas', '1', '--max-bytes', '1gb'])
    expect(full.code).toBe(1)
    expect(full.stdout.toString()).toContain('--max-bytes')
    await servers.killAll()
    const gone = await init(servers, ['--json'])
    expect(gone.code).toBe(1)
    expect(JSON.parse(gone.stdout.toString())).toMatchObject({ error: { code: 'UNAVAILABLE' } })
  })

  it('refuses invalid flags and missing servers before it connects', async () => {
    for (const args of [['--replicas', '2'], ['--max-bytes', '10'], ['--max-bytes', '1kb'], ['extra']])
      expect((await runCli(['forward', 'init', ...args], { PINO_INGEST_NATS_SERVERS: '127.0.0.1:1' })).code).toBe(2)
    expect((await runCli(['forward', 'init'], { NODE_ENV: 'production' })).code).toBe(2)
  })
})
