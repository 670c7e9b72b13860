/** Reads entries of a running service as they arrive, in order, across lost connections and restarts. */
import type { EntrySummary, ServiceStatus, StreamEntries } from '../../service/query/api-types.js'
import type { ServerSentEvent } from '../../service/stream/server-sent-events.js'
import { StreamFollower } from '../../service/stream/stream-follower.js'
import type { StreamFollowerOptions } from '../../service/stream/stream-follower.js'
import type { Page, StoredEntry } from '../../service/store/stored-record.js'
import { formatEntryCount } from '../shared/terminal-format.js'
import { AnswerError } from './local-service-client.js'
import type { LocalServiceClient, Query } from './local-service-client.js'

/** A whole entry if it was requested, unless the service has deleted it meanwhile. */
export type ReceivedEntry = EntrySummary | StoredEntry

export interface EntryFollowerOptions {
  readonly service: Pick<LocalServiceClient, 'origin' | 'json' | 'stream'>
  readonly filters: Query
  /** Number of earlier entries to begin with. */
  readonly lines: number
  readonly isWhole: boolean
  readonly signal: AbortSignal
  readonly wait?: StreamFollowerOptions['wait']
  /** The next entries are read when it resolves. */
  readonly onEntries: (entries: readonly ReceivedEntry[]) => Promise<void>
  readonly report: (message: string) => void
  /** Reads the token again. @returns whether it has changed */
  readonly renewToken: () => boolean
}

/** The largest page of the API. */
const MAX_PAGE = 1_000

export class EntryFollower {
  readonly #options: EntryFollowerOptions
  #isReconnecting = false

  constructor(options: EntryFollowerOptions) {
    this.#options = options
  }

  /** Resolves when the signal is aborted. Rejects if it cannot start, and with an AnswerError if a retry cannot succeed. */
  async run(): Promise<void> {
    const { service, filters, lines, isWhole, onEntries, report, wait, signal } = this.#options
    try {
      const { started_at: startedAt } = await service.json<ServiceStatus>('status')
      // At least one: the stream starts after it.
      const limit = Math.max(lines, 1)
      const page = { ...filters, ...(!isWhole && { view: 'summary' }), limit }
      const { items } = await service.json<Page<ReceivedEntry>>('entries', page)
      await onEntries(items.slice(0, lines).toReversed())
      const follower = new StreamFollower({
        after: String(items[0]?.seq ?? 0),
        startedAt,
        readStatus: () => service.json<ServiceStatus>('status'),
        open: async (lastEventId) => (await service.stream(filters, lastEventId)).setEncoding('utf8'),
        onOpen: () => {
          if (this.#isReconnecting) report(`connected to ${service.origin}`)
          this.#isReconnecting = false
        },
        onEvent: (event) => this.#take(event),
        onRestart: () => report('the service was restarted without its earlier entries'),
        onFailure: (error) => this.#onFailure(error),
        ...(wait !== undefined && { wait }),
      })
      await follower.run(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  async #take({ event, data }: ServerSentEvent): Promise<void> {
    const { isWhole, onEntries, report } = this.#options
    if (event === 'reset') report('the service has deleted its earlier entries')
    if (event !== 'entries') return
    const { items, skipped } = JSON.parse(data) as StreamEntries
    if (skipped > 0)
      report(`${formatEntryCount(skipped)} skipped: they arrived faster than the output is read; the page shows them`)
    await onEntries(isWhole ? await this.#findWhole(items) : items)
  }

  /** Loads the whole entries, since the stream contains summaries. */
  async #findWhole(items: readonly EntrySummary[]): Promise<readonly ReceivedEntry[]> {
    const { service, filters } = this.#options
    const last = items.at(-1)
    if (last === undefined) return []
    const page = { ...filters, limit: Math.min(items.length, MAX_PAGE), cursor: last.seq + 1 }
    const found = await service.json<Page<StoredEntry>>('entries', page)
    const bySeq = new Map(found.items.map((item) => [item.seq, item]))
    return items.map((item) => bySeq.get(item.seq) ?? item)
  }

  /** @throws the error if a retry cannot succeed */
  #onFailure(error: unknown): void {
    const { service, report, renewToken } = this.#options
    const isFatal =
      error instanceof AnswerError && error.problem !== 'busy' && !(error.problem === 'token' && renewToken())
    if (isFatal) throw error
    if (this.#isReconnecting) return
    this.#isReconnecting = true
    const { code, message } = error as NodeJS.ErrnoException
    report(`${service.origin} cannot be reached (${code ?? message}); retrying`)
  }
}
