/** The permissions in docs/fleet-operations.md are sufficient for each role, and permit nothing else. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { connect, nkeyAuthenticator, nkeys } from '@nats-io/transport-node'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Check } from '../../src/cli/shared/check.js'
import { runCli, startCli } from '../cli/run-cli.js'
import type { CliEnv } from '../cli/run-cli.js'
import { readText } from '../markdown.js'
import { started } from '../service/support.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'

/** The documentation has no user for the last one. */
const ROLES = ['PUBLISHER', 'FORWARDER', 'INIT', 'DEAD', 'UNKNOWN'] as const
type Role = (typeof ROLES)[number]

const KEY = 'key-of-the-service-1'
const SIZES = ['--replicas', '1', '--max-bytes', '1mb', '--max-dead-bytes', '1mb', '--max-state-bytes', '1mb']

interface Fleet {
  readonly env: (role: Role) => CliEnv
  readonly connectAs: (role: Role, inboxPrefix: string) => Promise<NatsConnection>
  /** Permission violations reported by the server. */
  readonly violations: () => readonly string[]
}

const cleanups: (() => unknown)[] = []
const atEnd = (cleanup: () => unknown): void => void cleanups.push(cleanup)

async function startFleet(): Promise<Fleet> {
  const [, shown = ''] = /<!-- permissions -->\s*```\n([^]*?)```/.exec(readText('docs/fleet-operations.md')) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-permissions-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const users = Object.fromEntries(ROLES.map((role) => [role, nkeys.createUser()])) as Record<
    Role,
    ReturnType<typeof nkeys.createUser>
  >
  const seedOf = (role: Role): string => new TextDecoder().decode(users[role].getSeed())
  for (const role of ROLES) writeFileSync(join(folder, role), `${seedOf(role)}\n`, { mode: 0o600 })
  const config = shown.replace(/\$([A-Z]+)(?=,\s+#)/g, (_, role: Role) => `"${users[role].getPublicKey()}"`)
  const servers = await natsServers({ config }, atEnd)
  return {
    env: (role) => ({
      PINO_INGEST_NATS_SERVERS: servers.urls.join(','),
      PINO_INGEST_NATS_CREDENTIALS_FILE: join(folder, role),
    }),
    connectAs: async (role, inboxPrefix) => {
      const authenticator = nkeyAuthenticator(new TextEncoder().encode(seedOf(role)))
      const connection = await connect({ servers: servers.urls, authenticator, inboxPrefix })
      onTestFinished(() => connection.close())
      return connection
    },
    violations: () => servers.nodes.flatMap(({ log }) => log.split('\n').filter((line) => line.includes('Violation'))),
  }
}

/** Runs `doctor`, and returns the exit code and the names of failed checks. */
async function examine(env: CliEnv) {
  const { code, stdout } = await runCli(['doctor', '--json'], env, '', atEnd)
  expect(stdout.toString()).not.toMatch(/SU[A-Z2-7]{20}/)
  const checks = JSON.parse(stdout.toString()) as readonly Check[]
  return { code, failed: checks.filter(({ ok }) => !ok).map(({ name }) => name) }
}

describe.skipIf(SKIPS_NATS)('the permissions of the documentation', UNLESS_IT_HANGS, () => {
  let fleet: Fleet
  let beforeInit: Awaited<ReturnType<typeof examine>>
  beforeAll(async () => {
    if (SKIPS_NATS) return
    fleet = await startFleet()
    beforeInit = await examine(fleet.env('PUBLISHER'))
    await runCli(['forward', 'init', ...SIZES], fleet.env('INIT'), '', atEnd)
  }, UNLESS_IT_HANGS.timeout)
  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup()
  })

  it('are sufficient for each role, from init to replayed dead letters', async () => {
    const { env, connectAs, violations } = fleet
    expect(beforeInit).toMatchObject({ code: 1, failed: ['publish', 'publish'] })
    const violationsBefore = violations()
    const { code, stdout: told } = await runCli(['forward', 'init', '--json', ...SIZES], env('INIT'))
    const checks = JSON.parse(told.toString()) as readonly Check[]
    expect([code, checks.map(({ detail }) => detail.split(': ')[1])]).toEqual([0, Array(5).fill('exists')])
    const line = '{"level":30,"time":1700000000000,"msg":"by the pipe","service":"shop"}\n'
    const piped = await runCli([], { ...env('PUBLISHER'), PINO_INGEST_SERVICE: 'shop' }, line)
    expect(piped.code).toBe(0)
    const application = await connectAs('PUBLISHER', '_INBOX.publisher')
    const shop = { timestamp: '2026-01-01T00:00:00.000Z', service: 'shop' }
    const log = { ...shop, level: 'info', message: 'good' }
    const request = { ...shop, method: 'GET', path: '/', request_id: 'r-1', duration_ms: 1, status_code: 200 }
    const logs = [{ ...log, level: 'no level' }, log]
    const requests = [{ ...request, status_code: 'none' }, request]
    for (const [kind, list] of Object.entries({ logs, requests })) {
      const id = randomUUID()
      const body = JSON.stringify({ batch_id: id, logs: list })
      await jetstream(application).publish(`PINO_INGEST.${kind}`, body, { msgID: id })
    }

    const service = await started({ apiKeys: [KEY] })
    const delivery = { PINO_INGEST_URL: service.url, PINO_INGEST_API_KEY: KEY }
    const forwarder = startCli(['forward'], { ...env('FORWARDER'), ...delivery })
    await expect.poll(() => service.arrived, { timeout: 30_000 }).toBe(2)
    const countDead = async (): Promise<number> => {
      const { stdout } = await runCli(['forward', 'dead', 'ls', '--json'], env('DEAD'))
      return (JSON.parse(stdout.toString()) as { readonly entries: number }).entries
    }
    await expect.poll(countDead, { timeout: 30_000 }).toBe(2)
    const before = service.requests.length
    const replayed = await runCli(['forward', 'dead', 'replay', '--all', '--json'], env('DEAD'))
    expect([replayed.code, JSON.parse(replayed.stdout.toString())]).toMatchObject([0, { replayed: 2 }])
    // The replayed entries are rejected again, each in its own batch.
    await expect.poll(() => service.requests.length, { timeout: 30_000 }).toBeGreaterThan(before + 1)
    const role = await connectAs('FORWARDER', '_INBOX.forward')
    const bucket = await new Kvm(role).open('PINO_INGEST_STATE')
    expect(await bucket.create('delivered.one', '')).toBeGreaterThan(0)
    await expect(bucket.create('delivered.one', '')).rejects.toThrow(/sequence/)
    expect([(await bucket.get('delivered.one'))?.operation, await bucket.get('delivered.two')]).toEqual(['PUT', null])
    forwarder.child.kill('SIGTERM')
    expect((await forwarder.done).code).toBe(0)
    expect(forwarder.said()).not.toContain(KEY)
    expect(violations()).toEqual(violationsBefore)

    for (const one of ['PUBLISHER', 'FORWARDER'] as const)
      expect(await examine(env(one))).toMatchObject({ code: 0, failed: [] })
    // For other roles it reports once that they cannot receive replies.
    expect(await examine(env('DEAD'))).toMatchObject({ code: 1, failed: ['permissions'] })
    expect(await examine(env('UNKNOWN'))).toMatchObject({ code: 1, failed: ['credentials'] })
  })

  it('permit applications and forwarders nothing else', async () => {
    const { env, connectAs } = fleet
    for (const command of ['forward init --replicas 1', 'forward dead ls']) {
      const { code, stdout, stderr } = await runCli(command.split(' '), env('PUBLISHER'))
      expect(code).toBe(1)
      expect(`${stdout.toString()}${stderr}`).not.toMatch(/SU[A-Z2-7]{20}/)
    }
    const manages = ['STREAM.MSG.GET', 'STREAM.MSG.DELETE', 'STREAM.DELETE', 'STREAM.PURGE', 'STREAM.UPDATE']
    const refused = manages.map((name) => `$JS.API.${name}.PINO_INGEST`)
    for (const [role, inbox, another] of [
      ['PUBLISHER', '_INBOX.publisher', '$JS.API.CONSUMER.MSG.NEXT.PINO_INGEST.forward-logs'],
      ['PUBLISHER', '_INBOX.publisher', 'PINO_INGEST.dead.logs'],
      ['FORWARDER', '_INBOX.forward', 'PINO_INGEST.logs'],
      ['FORWARDER', '_INBOX.forward', 'PINO_INGEST.requests'],
    ] as const) {
      const connection = await connectAs(role, inbox)
      for (const subject of [...refused, another])
        await expect(connection.request(subject, '{}', { timeout: 5_000 }), subject).rejects.toThrow(/ermission/)
      for (const subject of ['_INBOX.forward-dead.>', '_INBOX.>', 'PINO_INGEST.>']) {
        const error = await new Promise((resolve) => connection.subscribe(subject, { callback: resolve }))
        expect(String(error)).toMatch(/ermission/)
      }
    }
  })

  it('permit an application of another account to publish, with any reply subject, and nothing but the queue receives it', async () => {
    const { connectAs } = fleet
    const application = await connectAs('PUBLISHER', '_INBOX.publisher')
    const administrator = await connectAs('INIT', '_INBOX.forward-init')
    const { streams } = await jetstreamManager(administrator, { checkAPI: false })
    const publish = (id: string) =>
      jetstream(application).publish('PINO_INGEST.logs', id, { msgID: id, expect: { streamName: 'PINO_INGEST' } })
    const sizes = async () => {
      const parts = ['PINO_INGEST', 'PINO_INGEST_DEAD', 'KV_PINO_INGEST_STATE'].map((name) => streams.info(name))
      return (await Promise.all(parts)).map(({ state }) => state.messages)
    }
    const [queued = NaN, ...others] = await sizes()
    const { seq: first } = await publish('first')
    expect(await publish('first')).toMatchObject({ stream: 'PINO_INGEST', duplicate: true })
    const replies = [
      '$JS.API.STREAM.PURGE.PINO_INGEST',
      '$JS.API.STREAM.MSG.DELETE.PINO_INGEST',
      '$JS.API.STREAM.DELETE.PINO_INGEST',
      '$KV.PINO_INGEST_STATE.delivered.some-id',
      'PINO_INGEST.dead.logs',
    ]
    // JetStream replies with the stream name and a sequence. Sent to its own API, that reply would be a request.
    for (const reply of replies) application.publish('PINO_INGEST.logs', 'attack', { reply })
    expect((await publish('last')).seq).toBe(first + replies.length + 1)
    expect(await sizes()).toEqual([queued + replies.length + 2, ...others])
  })
})
