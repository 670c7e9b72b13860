/**
 * Opens, reads and resumes the page's event stream. At most four visible tabs of a browser receive new entries,
 * because browsers limit all tabs to six connections to a host, and requests need some of them.
 */
import type { ServerSentEvent } from '../../stream/server-sent-events.js'
import { StreamFollower } from '../../stream/stream-follower.js'
import type { StreamFollowerOptions } from '../../stream/stream-follower.js'
import type { StreamChanged, StreamEntries } from '../../query/api-types.js'
import type { RecordKind } from '../../store/stored-record.js'
import { ApiError } from '../api-error.js'
import { Observable } from '../observable.js'

const ALL_KINDS: readonly RecordKind[] = ['entry', 'request', 'feedback', 'release', 'heartbeat', 'rejected']

/** Time without data after which the stream is `silent`. The service sends at least a comment every 2 s. */
export const SILENCE_MS = 5000

const MAX_STREAMS = 4
const RETRY_MS = 1000

export interface LiveState {
  /** `silent`: connected, but no data for SILENCE_MS. `waiting`: not connected, because other tabs stream. */
  readonly name: 'connecting' | 'live' | 'silent' | 'reconnecting' | 'waiting'
  readonly reason: string | undefined
}

export interface LiveSource {
  readonly parameters: Readonly<Record<string, string>>
  /** The last known `seq`; the service first sends the entries after it. */
  readonly after?: number
  onOpen?(): void
  onEntries?(entries: StreamEntries): void
  /** Called when all records were deleted, by a reset or by a restart without a journal. */
  onReset?(): void
}

export interface LiveStreamDependencies extends Pick<StreamFollowerOptions, 'readStatus' | 'wait'> {
  /** Rejects with ApiError if the service refuses, with another error if it is unreachable. */
  open(
    parameters: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response>
  onChange(kinds: readonly RecordKind[]): void
  /** Calls `call` once after the delay. @returns function that cancels the call */
  later(ms: number, call: () => void): () => void
  /**
   * Takes a lock that all tabs of the browser share. Without this method, the number of streams has no limit.
   * @returns function that releases it; undefined if another tab has it
   */
  tryLock?(name: string): Promise<(() => void) | undefined>
}

export class LiveStream {
  readonly state = new Observable<LiveState>({ name: 'connecting', reason: undefined })
  /** Whether a restart of the service has deleted all records. The page shows a notice until the user dismisses it. */
  readonly isEmptied = new Observable(false)
  readonly #deps: LiveStreamDependencies
  #follower: StreamFollower | undefined
  #controller = new AbortController()
  #endSilence: (() => void) | undefined
  #isResting = false
  /** Lets another tab stream. */
  #releaseSlot: (() => void) | undefined
  #isWaiting = false
  /** Whether entries may have been missed while the stream was closed. */
  #isBehind = false

  constructor(deps: LiveStreamDependencies) {
    this.#deps = deps
  }

  follow(source: LiveSource): void {
    const { open, onChange, later: _later, tryLock: _tryLock, ...others } = this.#deps
    this.#follower = new StreamFollower({
      ...others,
      after: source.after?.toString(),
      startedAt: this.#follower?.startedAt,
      open: async (lastEventId, signal) => {
        const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
        const { body } = await open(source.parameters, headers, signal)
        if (body === null) throw new Error('the stream has no body')
        return this.#watch(decode(body))
      },
      onOpen: () => {
        this.state.set({ name: 'live', reason: undefined })
        if (this.#isBehind) onChange(ALL_KINDS)
        this.#isBehind = false
        source.onOpen?.()
      },
      onEvent: (event) => this.#dispatch(source, event),
      onRestart: () => {
        this.isEmptied.set(true)
        source.onReset?.()
      },
      onFailure: (error) => {
        this.#endSilence?.()
        // Stops retrying if the service refuses the token; the page prompts for another one.
        if (error instanceof ApiError && error.status === 401) throw error
        this.#isBehind = true
        this.state.set({ name: 'reconnecting', reason: error instanceof Error ? error.message : String(error) })
      },
    })
    this.#start()
  }

  /** Closes the stream while the page is hidden, and resumes it afterwards. */
  rest(isResting: boolean): void {
    if (isResting === this.#isResting) return
    this.#isResting = isResting
    this.#isBehind = true
    this.#start()
  }

  #start(): void {
    this.#controller.abort()
    this.#controller = new AbortController()
    this.#endSilence?.()
    if (this.#isResting) {
      this.#releaseSlot?.()
      this.#releaseSlot = undefined
    } else if (this.#deps.tryLock !== undefined && this.#releaseSlot === undefined) {
      void this.#acquireSlot(this.#deps.tryLock)
    } else {
      this.#awaitSign()
      this.#follower?.run(this.#controller.signal).catch(() => {})
    }
  }

  async #acquireSlot(tryLock: NonNullable<LiveStreamDependencies['tryLock']>): Promise<void> {
    if (this.#isWaiting) return
    this.#isWaiting = true
    for (let n = 0; !this.#isResting && this.#releaseSlot === undefined; n = (n + 1) % MAX_STREAMS) {
      this.#releaseSlot = await tryLock(`pino-ingest.stream-${n}`)
      if (this.#releaseSlot !== undefined || n + 1 < MAX_STREAMS) continue
      this.state.set({ name: 'waiting', reason: undefined })
      this.#isBehind = true
      await new Promise<void>((resolve) => void this.#deps.later(RETRY_MS, resolve))
    }
    this.#isWaiting = false
    this.#start()
  }

  #awaitSign(): void {
    this.#endSilence?.()
    this.#endSilence = this.#deps.later(SILENCE_MS, () => {
      if (this.state.value.name === 'live') this.state.set({ name: 'silent', reason: undefined })
    })
  }

  async *#watch(chunks: AsyncIterable<string>): AsyncGenerator<string> {
    this.#awaitSign()
    for await (const chunk of chunks) {
      this.#awaitSign()
      if (this.state.value.name === 'silent') this.state.set({ name: 'live', reason: undefined })
      yield chunk
    }
  }

  #dispatch(source: LiveSource, { event, data }: ServerSentEvent): void {
    if (event === 'entries') {
      source.onEntries?.(JSON.parse(data) as StreamEntries)
      this.#deps.onChange(['entry'])
    } else if (event === 'changed') {
      this.#deps.onChange((JSON.parse(data) as StreamChanged).kinds)
    } else if (event === 'reset') {
      source.onReset?.()
      this.#deps.onChange(ALL_KINDS)
    }
  }
}

/** Uses a reader instead of `for await`, because Safari's streams are not iterable. */
async function* decode(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    yield decoder.decode(value, { stream: true })
  }
}
