/** Entries of a running service as they arrive, in their order, through breaks of the connection and restarts. */
import { nextDelayMs } from '../../shared/backoff.js'
import type { Clock } from '../../shared/clock.js'
import type { EntrySummary, ServiceStatus, StreamEntries } from '../../service/query/api-types.js'
import { EventStreamParser } from '../../service/stream/server-sent-events.js'
import type { ServerSentEvent } from '../../service/stream/server-sent-events.js'
import type { Page, StoredEntry } from '../../service/store/stored-record.js'
import { AnswerError } from './local-service-client.js'
import type { LocalServiceClient, Query } from './local-service-client.js'

/** Whole where it was asked for, unless the service has let go of it meanwhile. */
export type ReceivedEntry = EntrySummary | StoredEntry

export interface EntryFollowerOptions {
  readonly service: Pick<LocalServiceClient, 'origin' | 'json' | 'stream'>
  readonly filters: Query
  /** How many of those that are there come first. */
  readonly lines: number
  readonly isWhole: boolean
  readonly clock: Clock
  readonly random: () => number
  readonly signal: AbortSignal
  /** The next are read when it resolves. */
  readonly onEntries: (entries: readonly ReceivedEntry[]) => Promise<void>
  readonly report: (message: string) => void
  /** Whether there is another token than the one that was refused. */
  readonly renewToken: () => boolean
}

const RETRY_MIN_MS = 250
const RETRY_MAX_MS = 5_000
/** The most that the service gives at once. */
const MAX_PAGE = 1_000

interface Outage {
  readonly sinceMs: number
  attempts: number
}

export class EntryFollower {
  readonly #options: EntryFollowerOptions
  /** What was stored up to it is done with. */
  #seq = 0
  /** Of the service that counts so. */
  #startedAt = ''
  #hasStream = false
  #outage: Outage | undefined

  constructor(options: EntryFollowerOptions) {
    this.#options = options
  }

  /** Resolves when the signal is aborted. Rejects where it cannot begin, and with an AnswerError where going on makes no sense. */
  async run(): Promise<void> {
    const { signal } = this.#options
    try {
      await this.#begin()
      for (;;) await this.#follow().catch((error: unknown) => this.#recover(error))
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async #begin(): Promise<void> {
    const { service, filters, lines, isWhole, onEntries } = this.#options
    this.#startedAt = (await service.json<ServiceStatus>('status')).started_at
    // One at least, for where the stream is to begin.
    const { items } = await service.json<Page<ReceivedEntry>>('entries', {
      ...filters,
      ...(!isWhole && { view: 'summary' }),
      limit: Math.max(lines, 1),
    })
    await onEntries(items.slice(0, lines).toReversed())
    this.#seq = items[0]?.seq ?? 0
  }

  /** Rejects when the stream has ended, for whatever reason. */
  async #follow(): Promise<never> {
    const { service, filters, report: tell } = this.#options
    if (this.#outage !== undefined) await this.#findPlace()
    const stream = this.#hasStream
      ? await service.stream(filters, String(this.#seq))
      : await service.stream({ ...filters, after: this.#seq }, undefined)
    if (this.#outage !== undefined) tell(`connected to ${service.origin}`)
    this.#outage = undefined
    this.#hasStream = true
    stream.setEncoding('utf8')
    const parser = new EventStreamParser()
    for await (const text of stream) for (const event of parser.push(text as string)) await this.#take(event)
    throw new Error('the connection was closed')
  }

  async #take({ event, data, id }: ServerSentEvent): Promise<void> {
    const { isWhole, onEntries, report: tell } = this.#options
    if (event === 'reset') {
      if (this.#seq > 0) tell('the service has forgotten everything')
      this.#seq = 0
    }
    if (event !== 'entries') return
    const { items, skipped } = JSON.parse(data) as StreamEntries
    if (skipped > 0)
      tell(
        `${skipped} ${skipped === 1 ? 'entry is' : 'entries are'} not shown, since they came faster than this is read; the page has them`,
      )
    await onEntries(isWhole ? await this.#whole(items) : items)
    if (id !== undefined) this.#seq = Number(id)
  }

  /** The stream has entries in short. */
  async #whole(items: readonly EntrySummary[]): Promise<readonly ReceivedEntry[]> {
    const { service, filters } = this.#options
    const last = items.at(-1)
    if (last === undefined) return []
    const found = await service.json<Page<StoredEntry>>('entries', {
      ...filters,
      limit: Math.min(items.length, MAX_PAGE),
      cursor: last.seq + 1,
    })
    const bySeq = new Map(found.items.map((item) => [item.seq, item]))
    return items.map((item) => bySeq.get(item.seq) ?? item)
  }

  /** Where the service was started again without a file, it counts from the beginning, perhaps past where this feed was. */
  async #findPlace(): Promise<void> {
    const { service, report: tell } = this.#options
    const { started_at, db_file } = await service.json<ServiceStatus>('status')
    if (started_at === this.#startedAt) return
    this.#startedAt = started_at
    if (db_file !== null) return
    tell('the service was started again, without what it had')
    this.#seq = 0
  }

  /** Resolves when it is time for another attempt. @throws where there is no use in one */
  async #recover(error: unknown): Promise<void> {
    const { service, clock, random, signal, report: tell, renewToken } = this.#options
    if (signal.aborted) throw error
    if (error instanceof AnswerError && error.problem !== 'busy' && !(error.problem === 'token' && renewToken()))
      throw error
    if (this.#outage === undefined) {
      this.#outage = { sinceMs: clock.now(), attempts: 0 }
      tell(`${service.origin} is not there (${reasonOf(error)}); trying again until it is`)
    }
    this.#outage.attempts += 1
    const { attempts: attempt, sinceMs } = this.#outage
    const delayMs = nextDelayMs({
      attempt,
      outageAgeMs: clock.now() - sinceMs,
      retryMinMs: RETRY_MIN_MS,
      retryMaxMs: RETRY_MAX_MS,
      random,
    })
    await waitFor(delayMs, clock, signal)
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

/** Rejects when the signal is aborted. */
function waitFor(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(delayMs, () => {
      signal.removeEventListener('abort', end)
      resolve()
    })
    const end = (): void => {
      cancel()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', end, { once: true })
  })
}
