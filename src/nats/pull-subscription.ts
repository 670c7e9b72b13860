/**
 * Receives messages of a durable pull consumer, with a limit per request.
 *
 * One subscription serves all requests: it also receives a message that arrives after its request ended, which otherwise would wait for
 * its redelivery. It replaces the client's `consume()`, which stalled for 42 s after its leader was killed and requested too many messages
 * in an outage.
 */
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import type { Clock } from '../shared/clock.js'
import { toInboxPrefix } from './connect.js'
import loadNats from './load-nats.cjs'
import { PULL_EXPIRES_MS } from './streams.js'

export interface PullSubscriptionOptions {
  readonly connection: Pick<NatsConnection, 'subscribe' | 'publish'>
  readonly stream: string
  readonly consumer: string
  readonly clock: Clock
  /** Called synchronously for each message. */
  readonly onMessage: (message: Msg) => void
  /** Called for each message and heartbeat: the server is processing the request. */
  readonly onAnswer: () => void
  /** Default: a random one. */
  readonly inbox?: string
}

/** Describes why a request ended early. */
export interface PullFailure {
  readonly reason: string
  /** Every retry fails until the consumer's configuration is changed. */
  readonly isLasting?: boolean
}

/** Interval of the server's heartbeats for a request. */
const HEARTBEAT_MS = 1_000
/** After this time without a heartbeat the leader or the connection is considered lost. */
const SILENCE_MS = 2_500

const NO_MESSAGES = 404
const EXPIRED = 408
const HEARTBEAT = 100
const NO_RESPONDERS = 503
const CONFLICT = 409
/** The next message exceeds the rest of `max_bytes`. Earlier messages were sent. */
const TOO_LARGE = /exceeds maxbytes/i
/** nats-server 2.10 and later: the request is complete, which is not a failure. */
const COMPLETED = /batch completed/i
/** Any other conflict is between the request and the consumer's configuration. */
const TRANSIENT_CONFLICT = /Consumer Deleted|Leadership Change|Server Shutdown|Max(?:imum )?Waiting/i

interface Pull {
  readonly number: number
  left: number
  readonly end: (failure?: PullFailure) => void
  cancelTimer: () => void
}

export class PullSubscription {
  readonly #options: PullSubscriptionOptions
  readonly #inbox: string
  readonly #subscription: Subscription
  #pulls = 0
  #current: Pull | undefined
  /** The next message must be requested alone, without `max_bytes`. */
  #isTooLarge = false

  constructor(options: PullSubscriptionOptions) {
    this.#options = options
    this.#inbox = options.inbox ?? loadNats().createInbox(toInboxPrefix('forward'))
    this.#subscription = options.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) this.fail(error.message)
        else this.#receive(message)
      },
    })
  }

  /** The client closes the subscription if the user loses the permission for it; the connection remains. */
  get isClosed(): boolean {
    return this.#subscription.isClosed()
  }

  /**
   * Requests messages. Call it again only after it has resolved. Never rejects.
   * @param maxBytes limit for all messages together; a single message can exceed it
   * @returns undefined when the request is filled or has expired
   */
  pull(maxMessages: number, maxBytes: number): Promise<PullFailure | undefined> {
    const { connection, stream, consumer } = this.#options
    const batch = this.#isTooLarge ? 1 : maxMessages
    this.#isTooLarge = false
    const number = (this.#pulls += 1)
    return new Promise((resolve) => {
      const end = (failure?: PullFailure): void => {
        if (this.#current !== pull) return
        this.#current = undefined
        pull.cancelTimer()
        resolve(failure)
      }
      const pull: Pull = { number, left: batch, end, cancelTimer: () => {} }
      this.#current = pull
      this.#restartTimer(pull)
      const request = {
        batch,
        ...(batch > 1 && { max_bytes: maxBytes }),
        expires: PULL_EXPIRES_MS * 1_000_000,
        idle_heartbeat: HEARTBEAT_MS * 1_000_000,
      }
      try {
        connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), {
          reply: `${this.#inbox}.${number}`,
        })
      } catch (error) {
        end({ reason: error instanceof Error ? error.message : String(error) })
      }
    })
  }

  /** Ends the request in progress, for example when the connection is lost. */
  fail(reason: string): void {
    this.#current?.end({ reason })
  }

  /** Ends the request in progress. Messages that were already sent are still received. */
  close(): void {
    this.fail('closed')
    // Rejects if the connection is closed first.
    this.#subscription.drain().catch(() => {})
  }

  #receive(message: Msg): void {
    const pull = this.#current
    const isStatus = message.subject.startsWith(`${this.#inbox}.`)
    if (pull !== undefined) this.#restartTimer(pull)
    if (!isStatus) {
      this.#options.onMessage(message)
      this.#options.onAnswer()
      if (pull === undefined) return
      pull.left -= 1
      if (pull.left <= 0) pull.end()
      return
    }
    if (pull === undefined || message.subject !== `${this.#inbox}.${pull.number}`) return
    const code = message.headers?.code ?? 0
    if (code === HEARTBEAT) return this.#options.onAnswer()
    if (code === NO_MESSAGES || code === EXPIRED) return pull.end()
    const description = message.headers?.description ?? ''
    if (code === CONFLICT && TOO_LARGE.test(description)) {
      this.#isTooLarge = true
      return pull.end()
    }
    if (code === CONFLICT && COMPLETED.test(description)) return pull.end()
    pull.end({
      reason:
        code === NO_RESPONDERS
          ? 'no server responds for the consumer'
          : `${description === '' ? 'refused' : description} (${code})`,
      isLasting: code === CONFLICT && !TRANSIENT_CONFLICT.test(description),
    })
  }

  #restartTimer(pull: Pull): void {
    pull.cancelTimer()
    pull.cancelTimer = this.#options.clock.timer(SILENCE_MS, () =>
      pull.end({ reason: 'the consumer does not respond' }),
    )
  }
}
