/** A queue with unique names on a server shared by the tests, a service, and forwarders as processes. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, headers } from '@nats-io/transport-node'
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { ConsumerConfig, JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { TestContext } from 'vitest'
import { readDeadLetters } from '../../src/nats/dead-letter.js'
import type { StoredDeadLetter } from '../../src/nats/dead-letter.js'
import { toStreamNames } from '../../src/nats/message.js'
import type { BatchKind, StreamNames } from '../../src/nats/message.js'
import { toBucketConfig, toConsumerConfig, toDeadConfig, toQueueConfig } from '../../src/nats/streams.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { cleanEnv } from '../process/run-app.js'

const CLI = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))
/** Long, so that it only fails for something that never arrives. */
const TIMEOUT_MS = 100_000
const MIB = 2 ** 20
const SIZES = { replicas: 1, maxBytes: 64 * MIB, maxDeadBytes: 8 * MIB, maxStateBytes: 8 * MIB }
export const API_KEY = 'the-key-of-the-forwarder-4711'

export interface FleetOptions {
  readonly service?: IngestServiceOptions
  /** `ack_wait` of the consumers, in milliseconds. */
  readonly ackWaitMs?: number
  /** Default true. */
  readonly hasBucket?: boolean
  /** Default true. */
  readonly isSetUp?: boolean
  readonly connection?: Partial<ConnectionOptions>
}

export interface Forwarder {
  readonly child: ChildProcess
  readonly said: () => string
  /** Exit code. */
  readonly done: Promise<number | null>
  /** Requests a path of the metrics server. */
  readonly get: (path: string) => Promise<{ readonly status: number; readonly text: string }>
  /** Sum of the samples with these labels. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>
}

export const REQUEST_LOG = {
  method: 'GET',
  path: '/x',
  status_code: 200,
  duration_ms: 1,
  request_id: 'r-1',
  timestamp: '2026-01-01T00:00:00.000Z',
}

export interface PublishInit {
  readonly batchId?: string
  /** Default: the transport's headers. */
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

let number = 0

export class ForwardFleet {
  readonly names: StreamNames
  readonly service: IngestService
  readonly jsm: JetStreamManager
  readonly js: JetStreamClient
  readonly #connection: NatsConnection
  readonly #env: Record<string, string>
  readonly #ackWaitMs: number | undefined
  readonly #children: ChildProcess[] = []

  private constructor(
    connection: NatsConnection,
    jsm: JetStreamManager,
    service: IngestService,
    env: Record<string, string>,
    ackWaitMs: number | undefined,
  ) {
    this.#connection = connection
    this.jsm = jsm
    this.js = jetstream(connection)
    this.service = service
    this.#env = env
    this.#ackWaitMs = ackWaitMs
    this.names = toStreamNames({ stream: env['PINO_INGEST_NATS_STREAM'] ?? '' })
  }

  /** It ends with the test. */
  static async start(
    { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
    { urls: servers }: { readonly urls: readonly string[] },
    options: FleetOptions = {},
  ): Promise<ForwardFleet> {
    const { isSetUp = true, hasBucket = true } = options
    const id = `${process.pid}-${(number += 1)}`
    const service = await createIngestService(options.service)
    const connection = await connect({ servers: [...servers], ...options.connection })
    const fleet = new ForwardFleet(
      connection,
      await jetstreamManager(connection),
      service,
      {
        PINO_INGEST_NATS_SERVERS: servers.join(','),
        PINO_INGEST_NATS_STREAM: `FLEET-${id}`,
        PINO_INGEST_URL: service.url,
        PINO_INGEST_API_KEY: API_KEY,
      },
      options.ackWaitMs,
    )
    onTestFinished(() => fleet.close())
    if (isSetUp) await fleet.setUp(hasBucket)
    return fleet
  }

  async setUp(hasBucket = true): Promise<void> {
    const { jsm, names } = this
    await jsm.streams.add(toQueueConfig(names, SIZES))
    await this.addDeadStream()
    if (hasBucket) await jsm.streams.add(toBucketConfig(names, SIZES))
    for (const kind of ['logs', 'requests'] satisfies BatchKind[]) await this.addConsumer(kind)
  }

  async addConsumer(kind: BatchKind, changes: Partial<ConsumerConfig> = {}): Promise<void> {
    const ackWait = this.#ackWaitMs === undefined ? {} : { ack_wait: this.#ackWaitMs * 1_000_000 }
    const config = { ...toConsumerConfig(this.names, kind), ...ackWait, ...changes }
    await this.jsm.consumers.add(this.names.stream, config)
  }

  /** Records all published messages, including requests to the server. */
  listen(subject: string, listener: () => void): void {
    this.#connection.subscribe(subject, { callback: listener })
  }

  async addDeadStream(): Promise<void> {
    await this.jsm.streams.add(toDeadConfig(this.names, SIZES))
  }

  /** Starts a forwarder. Resolves when it serves its metrics. */
  async forwarder(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Promise<Forwarder> {
    const child = spawn(process.execPath, [CLI, 'forward', '--metrics', '127.0.0.1:0', ...args], {
      env: cleanEnv({ ...this.#env, ...env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#children.push(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const done = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
    let ended = false
    void done.then(() => (ended = true))
    const findUrl = (): string | undefined =>
      /http:\/\/127\.0\.0\.1:\d+(?=["\n])/.exec(text.replace(this.service.url, ''))?.[0]
    await until(() => findUrl() !== undefined || ended)
    const url = findUrl()
    if (url === undefined) throw new Error(`the forwarder has not started: ${text}`)
    const get: Forwarder['get'] = async (path) => {
      const response = await fetch(`${url}${path}`)
      return { status: response.status, text: await response.text() }
    }
    const metric: Forwarder['metric'] = async (name, labels = {}) => {
      const lines = (await get('/metrics')).text.split('\n')
      const found = lines.filter(
        (line) =>
          (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) &&
          Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)),
      )
      return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
    }
    return { child, said: () => text, done, get, metric }
  }

  /** Runs a forwarder that fails to start. */
  async exitCode(env: Readonly<Record<string, string>>, args: readonly string[]): Promise<number | null> {
    const child = spawn(process.execPath, [CLI, 'forward', ...args], { env: cleanEnv({ ...this.#env, ...env }) })
    this.#children.push(child)
    return new Promise((resolve) => child.once('close', resolve))
  }

  /** @returns the batch id */
  async publish(kind: BatchKind, entries: readonly object[], init: PublishInit = {}): Promise<string> {
    const batchId = init.batchId ?? randomUUID()
    const text = init.body ?? JSON.stringify({ batch_id: batchId, logs: entries })
    const own = headers()
    own.set('Nats-Msg-Id', batchId)
    own.set('Pino-Ingest-Count', String(entries.length))
    for (const [name, value] of Object.entries(init.headers ?? {})) own.set(name, value)
    await this.js.publish(this.names.subjects[kind], text, { headers: own })
    return batchId
  }

  async messages(stream = this.names.stream): Promise<number> {
    return (await this.jsm.streams.info(stream)).state.messages
  }

  /** Resolves when everything is acknowledged. */
  async untilEmpty(): Promise<void> {
    await until(async () => (await this.messages()) === 0)
  }

  async deadLetters(): Promise<StoredDeadLetter[]> {
    const letters: StoredDeadLetter[] = []
    for await (const letter of readDeadLetters(this.jsm, this.names)) letters.push(letter)
    return letters
  }

  /** The messages of the stored entries, sorted. */
  storedMessages(): string[] {
    return this.service
      .entries({ limit: Infinity })
      .items.map(({ entry }) => entry.message)
      .toSorted()
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL')
    await this.#connection.close()
    await this.service.close()
  }
}

export function logEntry(message: string): object {
  return { timestamp: '2026-01-01T00:00:00.000Z', level: 'info', message }
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = TIMEOUT_MS): Promise<void> {
  const endsAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`not within ${timeoutMs} ms: ${String(condition)}`)
    await sleep(20)
  }
}
