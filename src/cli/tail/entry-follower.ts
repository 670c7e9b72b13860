/** Reads entries from a running service in order of arrival, across lost connections and restarts. */
import type { EntryPage, EntrySummary, ServiceStatus, StreamEntries } from '../../service/query/api-types.js'
import type { ServerSentEvent } from '../../service/stream/server-sent-events.js'
import { StreamFollower } from '../../service/stream/stream-follower.js'
import type { StreamFollowerOptions } from '../../service/stream/stream-follower.js'
import type { StoredEntry } from '../../service/store/stored-record.js'
import { formatEntryCount } from '../shared/terminal.js'
import { findHint } from '../local/local-query.js'
import { AnswerError } from '../local/local-service-client.js'
import type { LocalServiceClient } from '../local/local-service-client.js'

/** A whole entry if `isWhole` is set, except for entries that the service has already deleted. */
export type ReceivedEntry = EntrySummary | StoredEntry

export interface EntryFollowerOptions {
  readonly service: Pick<LocalServiceClient, 'origin' | 'json' | 'stream'>
  /** Empty for all entries. */
  readonly query: string
  /** Number of earlier entries to start with. */
  readonly lines: number
  readonly isWhole: boolean
  readonly signal: AbortSignal
  readonly wait?: StreamFollowerOptions['wait']
  /** The next entries are read after it resolves. */
  readonly onEntries: (entries: readonly ReceivedEntry[]) => Promise<void>
  readonly report: (message: string) => void
  /** Reads the token again. @returns whether it has changed */
  readonly renewToken: () => boolean
}

/** The largest page of the API. */
const MAX_PAGE = 1_000

export class EntryFollower {
  readonly #options: EntryFollowerOptions
  #state: 'starting' | 'open' | 'lost' = 'starting'

  constructor(options: EntryFollowerOptions) {
    this.#options = options
  }

  /** Resolves when the signal is aborted. Rejects if it cannot start, and with an AnswerError if a retry cannot succeed. */
  async run(): Promise<void> {
    const { service, query: q, lines, isWhole, onEntries, report, wait, signal } = this.#options
    try {
      const { started_at: startedAt } = await service.json<ServiceStatus>('status')
      const page = { q, ...(!isWhole && { view: 'summary' }), limit: Math.max(lines, 1) }
      const { items, last_seq: lastSeq } = await service.json<EntryPage<ReceivedEntry>>('entries', page)
      await onEntries(items.slice(0, lines).toReversed())
      const hint = q === '' ? undefined : await findHint(service, q)
      if (hint !== undefined) report(hint)
      if (q !== '' && items.length === 0) report('no stored entry matches')
      const follower = new StreamFollower({
        after: String(lastSeq),
        startedAt,
        readStatus: () => service.json<ServiceStatus>('status'),
        open: async (lastEventId) => (await service.stream({ q }, lastEventId)).setEncoding('utf8'),
        onOpen: () => {
          if (this.#state !== 'open') report(`connected to ${service.origin}, waiting for entries`)
          this.#state = 'open'
        },
        onEvent: (event) => this.#take(event),
        onRestart: () => report('the local service was restarted without its earlier entries'),
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
    if (event === 'reset') report('the local service has deleted its earlier entries')
    if (event !== 'entries') return
    const { items, skipped } = JSON.parse(data) as StreamEntries
    if (skipped > 0)
      report(
        `${formatEntryCount(skipped)} skipped, since they arrived faster than the output is read; the page shows them`,
      )
    await onEntries(isWhole ? await this.#findWhole(items) : items)
  }

  /** Loads the whole entries, since the stream contains summaries. */
  async #findWhole(items: readonly EntrySummary[]): Promise<readonly ReceivedEntry[]> {
    const { service, query } = this.#options
    const [first, last] = [items[0], items.at(-1)]
    if (first === undefined || last === undefined) return []
    const times = items.map(({ timestamp }) => Date.parse(timestamp))
    const found = await service.json<EntryPage<StoredEntry>>('entries', {
      // The API lists entries by time, the stream by arrival.
      q: `${query === '' ? '' : `(${query}) `}seq:${first.seq}..${last.seq}`,
      since: new Date(Math.min(...times)).toISOString(),
      until: new Date(Math.max(...times) + 1).toISOString(),
      limit: Math.min(items.length, MAX_PAGE),
    })
    const bySeq = new Map(found.items.map((item) => [item.seq, item]))
    return items.map((item) => bySeq.get(item.seq) ?? item)
  }

  /** @throws the error if a retry cannot succeed */
  #onFailure(error: unknown): void {
    const { service, report, renewToken } = this.#options
    const isFatal =
      error instanceof AnswerError && error.problem !== 'busy' && !(error.problem === 'token' && renewToken())
    if (isFatal) throw error
    if (this.#state === 'lost') return
    this.#state = 'lost'
    const { code, message } = error as NodeJS.ErrnoException
    report(`${service.origin} cannot be reached (${code ?? message}); retrying`)
  }
}
