/** What queries ask of a record, worked out in one place for every store (pure). */
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import type { RequestLog } from '../../protocol/resources.js'
import { findErrorGroup, isFailure } from './group-fingerprint.js'

export interface EntryFacts {
  readonly level: Level
  readonly timeMs: number
  readonly service: string | undefined
  readonly environment: string | undefined
  readonly version: string | undefined
  readonly release_id: string | undefined
  readonly trace_id: string | undefined
  readonly request_id: string | undefined
  readonly tags: readonly string[] | undefined
  /** Whether error groups count it. */
  readonly isFailure: boolean
  /** What the filter `fingerprint` compares. */
  readonly group: string | undefined
  /** Who met the error. */
  readonly user: string | undefined
  /** Under which feedback names the entry: the service's interface does not show where it stands. */
  readonly eventId: string | undefined
  /** The texts that are searched, in lower case. */
  readonly search: string
}

/** Works each out when it is asked for: a filter of one entry needs few of them. */
export class LazyFacts implements EntryFacts {
  readonly #entry: LogEntry

  constructor(entry: LogEntry) {
    this.#entry = entry
  }

  get level(): Level {
    return this.#entry.level
  }

  get timeMs(): number {
    return Date.parse(this.#entry.timestamp)
  }

  get service(): string | undefined {
    return this.#entry.service
  }

  get environment(): string | undefined {
    return this.#entry.environment
  }

  get version(): string | undefined {
    return this.#entry.version
  }

  get release_id(): string | undefined {
    return this.#entry.release_id
  }

  get trace_id(): string | undefined {
    return this.#entry.trace?.trace_id
  }

  get request_id(): string | undefined {
    return this.#entry.request_id
  }

  get tags(): readonly string[] | undefined {
    return this.#entry.tags
  }

  get isFailure(): boolean {
    return isFailure(this.#entry)
  }

  get group(): string | undefined {
    return findErrorGroup(this.#entry)
  }

  get user(): string | undefined {
    return this.#entry.user_id ?? this.#entry.user?.id
  }

  get eventId(): string | undefined {
    const id = this.#entry.metadata?.['event_id']
    return typeof id === 'string' ? id : undefined
  }

  get search(): string {
    return searchText(this.#entry)
  }
}

/** Parts are kept apart by U+001F, so that a text is not found across two of them. */
function searchText({ message, service, action, error, metadata }: LogEntry): string {
  let text = message
  if (service !== undefined) text += `\u001f${service}`
  if (action !== undefined) text += `\u001f${action}`
  if (error?.type !== undefined) text += `\u001f${error.type}`
  if (error?.message !== undefined) text += `\u001f${error.message}`
  if (error?.stack !== undefined) text += `\u001f${error.stack}`
  if (metadata !== undefined) text += `\u001f${JSON.stringify(metadata)}`
  return text.toLowerCase()
}

export interface RequestFacts {
  readonly timeMs: number
  readonly method: string
  /** The pattern; the path where the log has none. */
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly service: string | undefined
  readonly environment: string | undefined
}

export function toRequestFacts(request: RequestLog): RequestFacts {
  return {
    timeMs: Date.parse(request.timestamp),
    method: request.method,
    route: request.route ?? request.path,
    status: request.status_code,
    ms: request.duration_ms,
    service: request.service,
    environment: request.environment,
  }
}
