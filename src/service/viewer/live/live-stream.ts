/**
 * The page's stream from the service: opens it, reads it, and resumes it after a disconnection. There is one per page, since
 * browsers limit all tabs of an origin to six connections.
 */
import { EventStreamParser } from '../../stream/server-sent-events.js'
import type { ServerSentEvent } from '../../stream/server-sent-events.js'
import type { StreamChanged, StreamEntries } from '../../query/api-types.js'
import type { RecordKind } from '../../store/stored-record.js'
import { ApiError } from '../api-error.js'
import { Observable } from '../observable.js'

const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 4000
const ALL_KINDS: readonly RecordKind[] = ['entry', 'request', 'feedback', 'release', 'heartbeat', 'rejected']

export interface LiveState {
  readonly name: 'connecting' | 'live' | 'reconnecting'
  readonly reason: string | undefined
}

export interface LiveSource {
  /** The filters for the API. */
  readonly parameters: Readonly<Record<string, string>>
  /** The last known `seq`: later entries are sent first. */
  readonly after?: number
  onOpen?(): void
  onEntries?(entries: StreamEntries): void
  /** All records were deleted: by a reset, or by a restart without a file. */
  onReset?(): void
}

export interface LiveStreamDependencies {
  /** Rejects if the service refuses (ApiError) or cannot be reached. */
  open(
    parameters: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response>
  /** Start time of the service, which distinguishes a restart from a lost connection. */
  startedAt(signal: AbortSignal): Promise<string>
  /** Resolves early if the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  onChange(kinds: readonly RecordKind[]): void
}

export class LiveStream {
  readonly state = new Observable<LiveState>({ name: 'connecting', reason: undefined })
  readonly #deps: LiveStreamDependencies
  #source: LiveSource | undefined
  #lastId: string | undefined
  #startedAt: string | undefined
  #controller = new AbortController()
  #isResting = false
  /** Whether entries may have been missed while no stream was open. */
  #isBehind = false

  constructor(deps: LiveStreamDependencies) {
    this.#deps = deps
  }

  follow(source: LiveSource): void {
    this.#source = source
    this.#lastId = source.after === undefined ? undefined : String(source.after)
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
    if (this.#isResting || this.#source === undefined) return
    void this.#run(this.#source, this.#controller.signal)
  }

  async #run(source: LiveSource, signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      let reason = 'the service ended the stream'
      try {
        await this.#read(source, signal, () => (failures = 0))
      } catch (error) {
        // Without an accepted token a retry is useless: the page asks for another token.
        if (error instanceof ApiError && error.status === 401) return
        reason = error instanceof Error ? error.message : String(error)
      }
      if (signal.aborted) return
      this.#isBehind = true
      this.state.set({ name: 'reconnecting', reason })
      await this.#deps.wait(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures), signal)
      failures += 1
    }
  }

  /** Until the stream ends. */
  async #read(source: LiveSource, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const startedAt = await this.#deps.startedAt(signal)
    const isAnew = this.#startedAt !== undefined && this.#startedAt !== startedAt
    this.#startedAt = startedAt
    if (isAnew) this.#lastId = undefined
    if (isAnew) source.onReset?.()
    if (signal.aborted) return

    const headers: Record<string, string> = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId }
    const response = await this.#deps.open(source.parameters, headers, signal)
    if (response.body === null) throw new Error('the stream has no body')
    onOpen()
    this.state.set({ name: 'live', reason: undefined })
    if (this.#isBehind) this.#deps.onChange(ALL_KINDS)
    this.#isBehind = false
    source.onOpen?.()

    const parser = new EventStreamParser()
    const decoder = new TextDecoder()
    const reader = response.body.getReader()
    while (!signal.aborted) {
      const { done, value } = await reader.read()
      if (done) return
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        if (!signal.aborted) this.#dispatch(source, event)
      }
    }
  }

  #dispatch(source: LiveSource, { event, data, id }: ServerSentEvent): void {
    if (id !== undefined) this.#lastId = id
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
