/** What each endpoint does with a parsed body: judge, store, reply. Knows nothing of HTTP beyond the reply's status. */
import { createHash } from 'node:crypto'
import type { LogEntry } from '../../protocol/log-entry.js'
import type { IngestResult, IngestResultError } from '../../protocol/ingest-result.js'
import type { Feedback, Release, RequestLogs } from '../../protocol/resources.js'
import type { Endpoint } from '../http/endpoints.js'
import type { Rejector } from './faults.js'
import { RecordIds } from './record-ids.js'
import {
  createFailure,
  createIngestResult,
  notFound,
  ok,
  toResultError,
  createSchemaReply,
} from '../http/service-reply.js'
import type { Reply } from '../http/service-reply.js'
import { isObject, prefixLocations } from './validators.js'
import type { Problem } from './validators.js'
import type { RecordKind, Records, RejectionReason, Store, StoredEntry } from '../store/store.js'
import { validateBatch, validateEntry, validateFeedback, validateRelease, validateRequestLogs } from './validate.js'

export interface IngesterOptions {
  readonly partial: boolean
  readonly partialStatus: 200 | 422
  readonly dedupeBatches: boolean
  readonly monitorTokens: readonly string[] | undefined
  readonly wallNow: () => number
  /** Called after records were stored. */
  readonly onRecords: RecordListener
}

export type RecordListener = <K extends RecordKind>(kind: K, records: readonly Records[K][]) => void

/** Reasons kept of one rejected batch; one for each of the most entries a batch may have. */
const MAX_REASONS = 100
/** Results remembered with `dedupeBatches`. */
const MAX_RESULTS = 10_000

const nameless = createFailure(400, 'bad request', 'bad_request')

export class Ingester {
  readonly #store: Store
  readonly #options: IngesterOptions
  readonly #ids: RecordIds
  readonly #monitors: ReadonlySet<string> | undefined
  readonly #results = new Map<string, IngestResult>()

  constructor(store: Store, options: IngesterOptions) {
    this.#store = store
    this.#options = options
    this.#ids = new RecordIds(store.lastSeq())
    this.#monitors = options.monitorTokens && new Set(options.monitorTokens.map(hashMonitorToken))
  }

  /** Forgets the results of earlier batches. */
  reset(): void {
    this.#results.clear()
  }

  /** `POST /ingest`. `bytes` is the body's size. */
  ingest(body: unknown, bytes: number, rejector?: Rejector): Reply {
    const shape = validateBatch(body)
    if (shape.length > 0) return this.#refuse('ingest', body, createSchemaReply(shape), shape)
    const { batch_id, logs } = body as { batch_id?: string; logs: unknown[] }
    const earlier = batch_id === undefined ? undefined : this.#results.get(batch_id)
    if (earlier !== undefined) return ok(earlier)

    const problems: Problem[] = []
    const errors: IngestResultError[] = []
    const valid: LogEntry[] = []
    for (const [index, entry] of logs.entries()) {
      const found = judge(entry, rejector)
      if (found[0] === undefined) valid.push(entry as LogEntry)
      else {
        problems.push(...prefixLocations('logs', prefixLocations(index, found)))
        errors.push(toResultError(index, found[0]))
      }
    }
    if (problems.length === 0) return this.#accept(batch_id, valid, bytes, logs.length, [])
    if (rejector?.form === 'nameless') return this.#refuse('ingest', body, nameless, problems)
    if (problems.some(({ kind }) => kind === 'schema')) {
      return this.#refuse('ingest', body, createSchemaReply(problems), problems)
    }
    const { partial, partialStatus } = this.#options
    if (!partial || valid.length === 0) {
      return this.#refuse('ingest', body, { status: 422, body: createIngestResult(0, errors) }, problems)
    }
    const accepted = this.#accept(batch_id, valid, bytes, logs.length, errors)
    return this.#refuse('ingest', body, { status: partialStatus, body: accepted.body }, problems, valid.length)
  }

  /** `POST /ingest/requests`: replies with an ingest result. */
  requests(body: unknown, bytes: number): Reply {
    const problems = validateRequestLogs(body)
    if (problems.length > 0) return this.#refuse('requests', body, createSchemaReply(problems), problems)
    const { requests } = body as RequestLogs
    const now = this.#options.wallNow()
    if (requests.length > 0) {
      const records = requests.map((request) => ({ ...this.#ids.next('request', now), request }))
      this.#keep('request', records, bytes)
    }
    return ok(createIngestResult(requests.length, []))
  }

  /** `POST /feedback`: kept whether its entry has come or not, since a log entry may come later than feedback on it. */
  feedback(body: unknown, bytes: number): Reply {
    const problems = validateFeedback(body)
    if (problems.length > 0) return this.#refuse('feedback', body, createSchemaReply(problems), problems)
    const feedback = body as Feedback
    const stored = this.#ids.next('feedback', this.#options.wallNow())
    this.#keep('feedback', [{ ...stored, feedback }], bytes)
    const attached = this.#store.entryOfEvent(feedback.event_id) !== undefined
    return ok({ id: stored.id, event_id: feedback.event_id, attached })
  }

  /** `POST /releases/register`: a version registered again keeps its `release_id`, so a repeated call does no harm. */
  release(body: unknown, bytes: number): Reply {
    const problems = validateRelease(body)
    if (problems.length > 0) return this.#refuse('releases', body, createSchemaReply(problems), problems)
    const release = body as Release
    const stored = this.#ids.next('release', this.#options.wallNow())
    const release_id = this.#store.releaseOfVersion(release.version)?.release_id ?? stored.id
    this.#keep('release', [{ ...stored, release_id, release }], bytes)
    return ok({ release_id, version: release.version, registered_at: stored.received_at })
  }

  /** `POST /heartbeat/{monitor_token}`. */
  heartbeat(token: string): Reply {
    const monitor = hashMonitorToken(token)
    if (this.#monitors !== undefined && !this.#monitors.has(monitor)) return notFound
    const stored = this.#ids.next('heartbeat', this.#options.wallNow())
    this.#keep('heartbeat', [{ ...stored, monitor }], 100)
    return ok({ status: 'ok', received_at: stored.received_at })
  }

  #accept(
    batchId: string | undefined,
    valid: readonly LogEntry[],
    bytes: number,
    submitted: number,
    errors: IngestResultError[],
  ): { status: 200; body: IngestResult } {
    const result = createIngestResult(valid.length, errors)
    if (valid.length > 0) {
      const now = this.#options.wallNow()
      const batch_id = batchId ?? null
      const records = valid.map((entry): StoredEntry => {
        const { id, seq, received_at } = this.#ids.next('entry', now)
        return { id, seq, received_at, batch_id, entry }
      })
      this.#keep('entry', records, (bytes * valid.length) / submitted)
    }
    if (this.#options.dedupeBatches && batchId !== undefined) this.#remember(batchId, result)
    return { status: 200, body: result }
  }

  #keep<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void {
    this.#store.append(kind, records, bytes)
    this.#options.onRecords(kind, records)
  }

  #remember(batchId: string, result: IngestResult): void {
    this.#results.set(batchId, result)
    if (this.#results.size > MAX_RESULTS) this.#results.delete(this.#results.keys().next().value as string)
  }

  #refuse(endpoint: Endpoint, body: unknown, reply: Reply, problems: readonly Problem[], accepted = 0): Reply {
    const record = {
      ...this.#ids.next('rejected', this.#options.wallNow()),
      endpoint,
      batch_id: batchIdOf(body),
      status: reply.status,
      entries: countItems(body),
      accepted,
      reasons: problems.slice(0, MAX_REASONS).map(({ loc, message }): RejectionReason => ({ loc, message })),
    }
    this.#keep('rejected', [record], 200 * record.reasons.length)
    return reply
  }
}

function judge(entry: unknown, rejector: Rejector | undefined): readonly Problem[] {
  const found = validateEntry(entry)
  if (found.length > 0 || rejector === undefined || !rejector.refuses(entry)) return found
  const kind = rejector.form === 'framework' ? 'schema' : 'value'
  return [{ kind, loc: ['message'], type: 'value_error', message: 'refused by a scripted fault' }]
}

/** What stands for a monitor in store and queries: enough to tell two apart, not enough to ping one. */
export function hashMonitorToken(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 12)
}

export function batchIdOf(body: unknown): string | null {
  const id = isObject(body) ? body['batch_id'] : undefined
  return typeof id === 'string' ? id : null
}

/** Items of the array in a body of one of the two ingest endpoints. */
export function countItems(body: unknown): number {
  const items = isObject(body) ? (body['logs'] ?? body['requests']) : undefined
  return Array.isArray(items) ? items.length : 0
}
