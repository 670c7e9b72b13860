/** Publishes batches of both kinds to JetStream over one connection. Loaded only if `nats` is set. */
import { isMainThread } from 'node:worker_threads'
import type { Sender } from '../batch/sender.js'
import type { NatsSettings } from '../options/nats-settings.js'
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'
import type { Clock } from '../shared/clock.js'
import { createJetStreamSender, MAX_HEADER_BYTES } from './jetstream-sender.js'
import { toStreamNames } from './message.js'
import type { BatchKind } from './message.js'
import { PublisherConnection } from './publisher-connection.js'

export interface PublisherOptions {
  readonly settings: NatsSettings
  readonly clock: Clock
  /** Runs in the application's own thread, where an open connection keeps the process alive. */
  readonly isInProcess: boolean
  /** Removes secrets. */
  readonly mask: (text: string) => string
  /** The largest body that the servers accept. */
  readonly onMaxBodyBytes: (bytes: number) => void
}

/** Milliseconds without a batch after which an in-process connection is closed. */
const IDLE_MS = 1_000

export class Publisher {
  readonly senders: Readonly<Record<BatchKind, Sender>>
  readonly #connection: PublisherConnection

  constructor({ settings, clock, isInProcess, mask, onMaxBodyBytes }: PublisherOptions) {
    const connection = new PublisherConnection({
      settings,
      clock,
      idleMs: isInProcess ? IDLE_MS : undefined,
      // Commands publish in the main thread.
      holdsProcess: isInProcess || isMainThread,
    })
    connection.connected.on(({ info }) => info && onMaxBodyBytes(info.max_payload - MAX_HEADER_BYTES))
    const { stream, subjects } = toStreamNames(settings)
    const clean = (text: string): string => mask(text).replaceAll(CONTROL_CHARACTERS, ' ')
    const createSender = (kind: BatchKind): Sender =>
      createJetStreamSender({ connection, kind, stream, subject: subjects[kind], clean })
    this.senders = { logs: createSender('logs'), requests: createSender('requests') }
    this.#connection = connection
  }

  close(): Promise<void> {
    return this.#connection.close()
  }
}
