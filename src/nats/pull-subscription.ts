/**
 * Gets messages of a durable pull consumer, a limited number at a time.
 *
 * One subscription serves all requests, so that a message which arrives late, after its request was given up, is received all the same: it
 * would otherwise wait for its redelivery. In place of the client's `consume()`, which stalled for 42 s after its leader was killed and
 * requested too much in an outage.
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
  /** Receives each message, at once. */
  readonly onMessage: (message: Msg) => void
  /** The server shows that it knows the request. */
  readonly onAnswer: () => void
  /** Default: a random one. */
  readonly inbox?: string
}

/** Why a request ended early. */
export interface PullFailure {
  readonly reason: string
  /** Somebody has to change the consumer: such requests are refused. */
  readonly isLasting?: boolean
}

/** Interval at which the server shows that the request is still known. */
const HEARTBEAT_MS = 1_000
/** Without a heartbeat for this long the leader, or the connection, is gone. */
const SILENCE_MS = 2_500

const NO_MESSAGES = 404
const EXPIRED = 408
const HEARTBEAT = 100
const NO_RESPONDERS = 503
const CONFLICT = 409
/** The next message is larger than what is left of `max_bytes`. Those before it were sent. */
const TOO_LARGE = /exceeds maxbytes/i
/** Servers since 2.10: nothing more comes for the request, which is not a failure. */
const COMPLETED = /batch completed/i
/** The other conflicts are between the request and the consumer's configuration. */
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
  /** The next message needs a request of its own. */
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

  /**
   * Requests messages. One request at a time. Never rejects.
   * @param maxBytes of them together; a single one may have more
   * @returns undefined when it is filled or has expired
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

  /** Ends the request in progress, for example since the connection is lost. */
  fail(reason: string): void {
    this.#current?.end({ reason })
  }

  /** Requests no more. Messages that are under way are still received. */
  close(): void {
    this.fail('closed')
    // It rejects if the connection is closed meanwhile.
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
          ? 'no server answers for the consumer'
          : `${description === '' ? 'refused' : description} (${code})`,
      isLasting: code === CONFLICT && !TRANSIENT_CONFLICT.test(description),
    })
  }

  #restartTimer(pull: Pull): void {
    pull.cancelTimer()
    pull.cancelTimer = this.#options.clock.timer(SILENCE_MS, () => pull.end({ reason: 'the consumer does not answer' }))
  }
}
