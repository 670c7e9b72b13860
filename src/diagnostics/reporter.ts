/**
 * Reports on the transport: lines on stderr and events for the application. Both are throttled with their counts
 * summed, and secrets are masked in both. Never throws.
 */
import { writeSync } from 'node:fs'
import type { AccountSnapshot, DropReason } from './account.js'
import { describeThrown } from '../shared/argument-checks.js'
import type { Clock } from '../shared/clock.js'
import type { IngestErrorCode } from '../shared/errors.js'
import { APPLICATION_MESSAGES, SERVICE_MESSAGES, SPOOL_MESSAGES } from './messages.js'
import type { IngestResultError } from '../protocol/ingest-result.js'
import { maskDeep, createSecretMask } from './secret-mask.js'
import { Throttle } from './throttle.js'
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'

/** The reports of one endpoint. */
export type EndpointReporter = Pick<
  Reporter,
  'delivered' | 'rejected' | 'dropped' | 'retained' | 'problem' | 'note' | 'discard'
>

/** The kind of item counted; undefined for log entries. */
type Subject = 'requestLogs' | undefined

interface OfSubject {
  /** Set if not log entries are counted. */
  readonly of?: 'requestLogs'
}

/**
 * The transport's events and their payloads. From pino's worker, listeners get the transport's id as second argument, for
 * applications with several `targets`. `error` is never emitted: pino would end its worker.
 */
export interface IngestEvents {
  /** Entries that the log service accepted; `batchId` is that of the latest batch. */
  'ingest:delivered': OfSubject & {
    /** Number of entries since the previous event. */
    readonly count: number
    /** `batch_id` of the latest batch. */
    readonly batchId: string
  }
  /** Entries that the log service rejected; `errors` and `reason` are those of the latest reply. */
  'ingest:rejected': OfSubject & {
    /** Number of entries since the previous event. */
    readonly count: number
    /** Reason in the latest reply. */
    readonly reason: string
    /** `errors` of the latest reply (docs/protocol.md, Replies). */
    readonly errors: readonly IngestResultError[]
  }
  /** Entries that were dropped. */
  'ingest:dropped': OfSubject & {
    /** Number of entries since the previous event. */
    readonly count: number
    /** Why they were dropped. */
    readonly reason: DropReason
  }
  /** Something that the user may have to correct. */
  'ingest:problem': {
    /** Stable code of the failure. */
    readonly code: IngestErrorCode
    /** What happened, without secrets. */
    readonly message: string
    /** HTTP status of the reply, if there was one. */
    readonly status?: number
  }
  /** The account, at most once a second, while it changes. */
  'ingest:stats': AccountSnapshot
}

export type EmitEvent = <Name extends keyof IngestEvents>(name: Name, payload: IngestEvents[Name]) => void

export interface ReporterOptions {
  readonly clock: Clock
  /** `silent` writes no lines, but events are still emitted. */
  readonly logTo: 'stderr' | 'silent'
  /** Masked in everything that is written or emitted. */
  readonly secrets: readonly string[]
  readonly emit: EmitEvent
  /** Where rejected entries are. Default: nowhere. */
  readonly rejectedHint?: string
  /** The payload of `ingest:stats`. */
  readonly snapshot: () => AccountSnapshot
  /** Called when log entries are dropped: every time and immediately, unlike lines and events. */
  readonly onDropped?: (count: number, reason: DropReason) => void
  /** As `onDropped`, when the log service accepts log entries. */
  readonly onDelivered?: () => void
  /** Default: synchronously to file descriptor 2. */
  readonly write?: (line: string) => void
}

interface Line {
  readonly messages: number
  readonly count: number
  readonly text: (count: number) => string
}

/** Shown when there was no failure. */
export const NO_FAILURE =
  'none, a request was still in progress; `await flush(logger)` before the exit waits for its reply'
const NOT_KEPT = 'they are not kept; set spool to keep rejected entries'
const LINE_WINDOW_MS = 10_000
const EVENT_WINDOW_MS = 1000
const MAX_LINE_CHARS = 1000

/** Not `process.stderr`: output that a worker writes there is lost when the process exits. */
export function writeToStderr(line: string): void {
  try {
    writeSync(2, line)
  } catch {
    // EAGAIN on a full pipe, EPIPE or EBADF without a reader: there is no other channel to report on.
  }
}

export class Reporter {
  readonly #options: ReporterOptions
  readonly #mask: (text: string) => string
  readonly #write: (line: string) => void
  /** By kind: an event or line name with its reason or code. The number of kinds is small and fixed. */
  readonly #lines = new Map<string, Throttle<Line>>()
  readonly #events = new Map<string, Throttle<IngestEvents[keyof IngestEvents]>>()
  readonly #stats: Throttle<true>

  constructor(options: ReporterOptions) {
    this.#options = options
    this.#stats = new Throttle(
      options.clock,
      EVENT_WINDOW_MS,
      () => true,
      () => this.#emit('ingest:stats', options.snapshot()),
    )
    this.#mask = createSecretMask(options.secrets)
    this.#write = options.write ?? writeToStderr
  }

  delivered(count: number, batchId: string, of?: Subject): void {
    this.#event('ingest:delivered', of ?? '', { count, batchId, ...(of && { of }) })
    if (of === undefined) this.#options.onDelivered?.()
  }

  rejected(count: number, errors: readonly IngestResultError[], reason: string, of?: Subject): void {
    const field = errors[0]?.field ?? ''
    const detail = field === '' || reason.includes(`${field}:`) ? reason : `field ${field}: ${reason}`
    const remedy = this.#options.rejectedHint ?? NOT_KEPT
    this.#line(`rejected ${of ?? ''}`, count, (total) =>
      SERVICE_MESSAGES.entriesRejected.text(counted(total, of), detail, remedy),
    )
    this.#event('ingest:rejected', of ?? '', { count, reason, errors, ...(of && { of }) })
  }

  dropped(count: number, reason: DropReason, detail: string, of?: Subject): void {
    this.#line(
      `dropped ${reason} ${of ?? ''}`,
      count,
      (total) => `dropped ${counted(total, of)} (${reason}): ${detail}`,
    )
    this.#event('ingest:dropped', `${reason} ${of ?? ''}`, { count, reason, ...(of && { of }) })
    if (of === undefined) this.#options.onDropped?.(count, reason)
  }

  problem(code: IngestErrorCode, message: string, status?: number, of?: Subject): void {
    const line = of === undefined ? message : `request logs: ${message}`
    this.#line(`${code} ${of ?? ''}`, 1, () => line)
    this.#event(
      'ingest:problem',
      `${code} ${of ?? ''}`,
      status === undefined ? { code, message: line } : { code, message: line, status },
    )
  }

  /**
   * Called at shutdown with the number of entries that stay on disk for the next start.
   * @param isKeyRejected whether the last failure is that the log service rejects the key
   */
  retained(count: number, lastFailure = NO_FAILURE, isKeyRejected = false, of?: Subject): void {
    const { kept, keptForKey } = SPOOL_MESSAGES
    const entries = `${counted(count, of)} ${count === 1 ? 'is' : 'are'}`
    this.note('kept', isKeyRejected ? keptForKey.text(entries) : kept.text(entries, lastFailure), of)
  }

  /**
   * Discards throttled lines and events that are outdated.
   * @param kinds codes of problems, and kinds of notes
   * @returns whether a line was discarded
   */
  discard(kinds: readonly string[], of?: Subject): boolean {
    let hadLine = false
    for (const kind of kinds) {
      if (this.#lines.get(`${kind} ${of ?? ''}`)?.discard() === true) hadLine = true
      this.#events.get(`ingest:problem ${kind} ${of ?? ''}`)?.discard()
    }
    return hadLine
  }

  /** A reporter that marks all its reports as those of request logs. */
  forRequestLogs(): EndpointReporter {
    const of = 'requestLogs'
    return {
      delivered: (count, batchId) => this.delivered(count, batchId, of),
      rejected: (count, errors, reason) => this.rejected(count, errors, reason, of),
      dropped: (count, reason, detail) => this.dropped(count, reason, detail, of),
      retained: (count, lastFailure, isKeyRejected) => this.retained(count, lastFailure, isKeyRejected, of),
      problem: (code, message, status) => this.problem(code, message, status, of),
      note: (kind, message) => this.note(kind, `request logs: ${message}`, of),
      discard: (kinds) => this.discard(kinds, of),
    }
  }

  /** Writes a line without an event. @param kind one of a small fixed set */
  note(kind: string, message: string, of?: Subject): void {
    this.#line(`${kind} ${of ?? ''}`, 1, () => message)
  }

  /** Emits `ingest:stats`. The account is read when the event is emitted, up to 1 s later. */
  stats(): void {
    this.#stats.offer(true)
  }

  /** Writes and emits all throttled lines and events at shutdown. */
  flushNow(): void {
    for (const throttle of this.#events.values()) throttle.flushNow()
    // Last, because each of the other events changes the account.
    this.#stats.flushNow()
    for (const throttle of this.#lines.values()) throttle.flushNow()
  }

  #line(kind: string, count: number, text: (count: number) => string): void {
    if (this.#options.logTo === 'silent') return
    let throttle = this.#lines.get(kind)
    if (throttle === undefined) {
      throttle = new Throttle(this.#options.clock, LINE_WINDOW_MS, mergeLines, (line) => this.#writeLine(line))
      this.#lines.set(kind, throttle)
    }
    throttle.offer({ messages: 1, count, text })
  }

  #writeLine({ messages, count, text }: Line): void {
    const suppressed = messages > 1 ? ` (${messages - 1} more like this since the last line)` : ''
    const maxChars = MAX_LINE_CHARS - suppressed.length
    this.#write(
      `pino-ingest: ${cut(this.#mask(text(count)).replace(CONTROL_CHARACTERS, ' '), maxChars)}${suppressed}\n`,
    )
  }

  #event<Name extends keyof IngestEvents>(name: Name, kind: string, payload: IngestEvents[Name]): void {
    const key = kind === '' ? name : `${name} ${kind}`
    let throttle = this.#events.get(key)
    if (throttle === undefined) {
      throttle = new Throttle(this.#options.clock, EVENT_WINDOW_MS, mergeEvents, (merged) => this.#emit(name, merged))
      this.#events.set(key, throttle)
    }
    throttle.offer(payload)
  }

  #emit(name: keyof IngestEvents, payload: IngestEvents[keyof IngestEvents]): void {
    try {
      this.#options.emit(name, maskDeep(payload, this.#mask))
      // Every other event changes the account.
      if (name !== 'ingest:stats') this.stats()
    } catch (error) {
      // In-process listeners are the application's code; an exception there must not stop delivery.
      this.note('listener', APPLICATION_MESSAGES.listenerThrew.text(name, describeThrown(error)))
    }
  }
}

function mergeLines(pending: Line, next: Line): Line {
  return { messages: pending.messages + next.messages, count: pending.count + next.count, text: next.text }
}

/** The latest payload, with the sum of the counts. */
function mergeEvents<T extends object>(pending: T, next: T): T {
  return 'count' in pending && 'count' in next ? { ...next, count: Number(pending.count) + Number(next.count) } : next
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
}

function counted(count: number, of: Subject): string {
  if (of === 'requestLogs') return count === 1 ? '1 request log' : `${count} request logs`
  return count === 1 ? '1 entry' : `${count} entries`
}
