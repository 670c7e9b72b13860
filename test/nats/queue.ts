/** The queue of a test: a fleet's streams on real servers, and the published messages. */
import { jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { ConnectionOptions } from '@nats-io/transport-node'
import { setTimeout as sleep } from 'node:timers/promises'
import { toStreamNames } from '../../src/nats/message.js'
import type { StreamNames } from '../../src/nats/message.js'
import { toQueueConfig } from '../../src/nats/streams.js'

export interface Published {
  readonly seq: number
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly batchId: string
  readonly logs: readonly { readonly metadata?: { readonly n?: number } }[]
  readonly bytes: number
}

const POLL_MS = 20
/** Long, so that it only fails for something that never arrives. */
const TIMEOUT_MS = 100_000

export class Queue {
  readonly names: StreamNames
  readonly #urls: readonly string[]
  readonly #options: ConnectionOptions

  constructor(urls: readonly string[], options: ConnectionOptions = {}, names = {}) {
    this.#urls = urls
    this.#options = options
    this.names = toStreamNames({ stream: 'PINO_INGEST', ...names })
  }

  /** Runs `call` over a new connection, since servers are killed between calls. */
  async manage<T>(call: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await connect({ ...this.#options, servers: [...this.#urls], timeout: 5_000 })
    try {
      return await call(await jetstreamManager(connection, { timeout: 10_000 }))
    } finally {
      await connection.close()
    }
  }

  async create(maxBytes = 100_000_000, replicas = 1): Promise<void> {
    const config = toQueueConfig(this.names, { replicas, maxBytes, maxDeadBytes: 0, maxStateBytes: 0 })
    // Tests purge it to make room.
    await this.manage((manager) => manager.streams.add({ ...config, deny_purge: false }))
  }

  /** Returns and deletes the messages in the queue. Messages that arrive later stay. */
  async take(): Promise<number[]> {
    const messages = await this.messages()
    const last = messages.at(-1)
    if (last !== undefined)
      await this.manage((manager) => manager.streams.purge(this.names.stream, { seq: last.seq + 1 }))
    return toNumbers(messages)
  }

  /** All messages, in order. */
  async messages(): Promise<Published[]> {
    return await this.manage(async (manager) => {
      const { state } = await manager.streams.info(this.names.stream)
      const found: Published[] = []
      if (state.messages === 0) return found
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage(this.names.stream, { seq })
        if (message === null) continue
        const headers = Object.fromEntries([...message.header].map(([name, values]) => [name, values.join()]))
        const { batch_id: batchId, logs } = JSON.parse(Buffer.from(message.data).toString())
        found.push({ seq, subject: message.subject, headers, batchId, logs, bytes: message.data.length })
      }
      return found
    })
  }

  /** Waits for this number of published records. @returns their numbers in ascending order */
  async numbers(count: number): Promise<number[]> {
    const endsAt = Date.now() + TIMEOUT_MS
    for (;;) {
      const numbers = toNumbers(await this.messages())
      if (numbers.length >= count || Date.now() > endsAt) return numbers.toSorted((a, b) => a - b)
      await sleep(POLL_MS)
    }
  }
}

function toNumbers(messages: readonly Published[]): number[] {
  return messages.flatMap(({ logs }) => logs.flatMap(({ metadata }) => metadata?.n ?? []))
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}
