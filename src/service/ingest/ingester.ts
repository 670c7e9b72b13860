/** Handles the parsed body of each endpoint: validates it, stores its records and creates the reply. Independent of HTTP except for status codes. */
import { createHash, randomBytes } from 'node:crypto'
import type { LogEntry } from '../../protocol/log-entry.js'
import type { IngestResult, IngestResultError } from '../../protocol/ingest-result.js'
import type { Feedback, Release, RequestLogs } from '../../protocol/resources.js'
import { isObject } from '../../shared/argument-checks.js'
import { containsSecret } from '../../shared/contained-secret.js'
import type { Endpoint } from '../endpoints.js'
import { createFailure, notFound, ok } from '../service-reply.js'
import type { Reply } from '../service-reply.js'
import type { IndexedRecords } from '../store/indexed-record.js'
import type { Store } from '../store/store.js'
import type { RecordKind, Records, RejectionReason, Stored, StoredEntry } from '../store/stored-record.js'
import type { Rejector } from './faults.js'
import { createIngestResult, createSchemaReply, describeRejected, toResultError } from './ingest-replies.js'
import { validateBatch, validateEntry, validateFeedback, validateRelease, validateRequestLogs } from './validate.js'
import { prefixLocations } from './validators.js'
import type { EntryViolation } from './validators.js'

export interface IngesterOptions {
  readonly partial: boolean
  readonly partialStatus: 200 | 422
  readonly dedupeBatches: boolean
  readonly monitorTokens: readonly string[] | undefined
  readonly wallNow: () => number
  readonly onRecords: RecordListener
}

export type RecordListener = <K extends RecordKind>(kind: K, records: readonly IndexedRecords[K][]) => void

const ID_PREFIXES: Record<RecordKind, string> = {
  entry: 'ent',
  request: 'req',
  feedback: 'fbk',
  release: 'rel',
  heartbeat: 'hbt',
  rejected: 'rej',
}
/** Sufficient for one reason per entry: a batch has at most 100 entries. */
const MAX_REASONS = 100
/** Maximum number of results to keep for `dedupeBatches`. */
const MAX_RESULTS = 10_000

export class Ingester {
  readonly #store: Store
  readonly #options: IngesterOptions
  /** Makes ids unique across runs: without a journal, every run starts at `seq` 1. */
  readonly #run = randomBytes(4).toString('hex')
  #seq: number
  readonly #monitors: ReadonlySet<string> | undefined
  readonly #results = new Map<string, IngestResult>()

  constructor(store: Store, options: IngesterOptions) {
    this.#store = store
    this.#options = options
    this.#seq = store.lastSeq
    this.#monitors = options.monitorTokens && new Set(options.monitorTokens.map(hashMonitorToken))
  }

  reset(): void {
    this.#results.clear()
  }

  /** Handles `POST /ingest`. @param bytes size of the body */
  ingest(body: unknown, bytes: number, rejector?: Rejector): Reply {
    const shape = validateBatch(body)
    if (shape.length > 0) return this.#refuse('ingest', body, createSchemaReply(shape), shape)
    const { batch_id, logs } = body as { batch_id?: string; logs: unknown[] }
    const earlier = batch_id === undefined ? undefined : this.#results.get(batch_id)
    if (earlier !== undefined) return ok(earlier)

    const problems: EntryViolation[] = []
    const errors: IngestResultError[] = []
    const valid: LogEntry[] = []
    for (const [index, entry] of logs.entries()) {
      const found = judgeEntry(entry, rejector)
      if (found[0] === undefined) valid.push(entry as LogEntry)
      else {
        problems.push(...prefixLocations('logs', prefixLocations(index, found)))
        errors.push(toResultError(index, found[0]))
      }
    }
    const { partial, partialStatus } = this.#options
    if (problems.length > 0 && rejector?.form === 'nameless') {
      return this.#refuse('ingest', body, createFailure(400, 'bad request', 'bad_request'), problems)
    }
    if (problems.some(({ kind }) => kind === 'schema')) {
      return this.#refuse('ingest', body, createSchemaReply(problems), problems)
    }
    if (problems.length > 0 && (!partial || valid.length === 0)) {
      return this.#refuse('ingest', body, { status: 422, body: createIngestResult(0, errors) }, problems)
    }
    const result = createIngestResult(valid.length, errors)
    if (valid.length > 0) this.#storeEntries(valid, batch_id ?? null, (bytes * valid.length) / logs.length)
    if (batch_id !== undefined) this.#remember(batch_id, result)
    if (problems.length === 0) return ok(result)
    return this.#refuse('ingest', body, { status: partialStatus, body: result }, problems, valid.length)
  }

  requests(body: unknown, bytes: number): Reply {
    const problems = validateRequestLogs(body)
    if (problems.length > 0) return this.#refuse('requests', body, createSchemaReply(problems), problems)
    const { requests } = body as RequestLogs
    const records = requests.map((request) => ({ ...this.#stored('request'), request }))
    if (records.length > 0) this.#append('request', records, bytes)
    return ok(createIngestResult(requests.length, []))
  }

  /** Handles `POST /feedback`. Stores feedback even if its entry is missing, because the entry may arrive later. */
  feedback(body: unknown, bytes: number): Reply {
    const problems = validateFeedback(body)
    if (problems.length > 0) return this.#refuse('feedback', body, createSchemaReply(problems), problems)
    const feedback = body as Feedback
    const { event_id } = feedback
    const stored = this.#stored('feedback')
    this.#append('feedback', [{ ...stored, feedback }], bytes)
    const entry = this.#store.findNewest(
      'entry',
      ({ record, eventId }) => eventId === event_id || record.id === event_id,
    )
    return ok({ id: stored.id, event_id, attached: entry !== undefined })
  }

  /** Handles `POST /releases/register`. Idempotent: a version that is registered again keeps its `release_id`. */
  releases(body: unknown, bytes: number): Reply {
    const problems = validateRelease(body)
    if (problems.length > 0) return this.#refuse('releases', body, createSchemaReply(problems), problems)
    const release = body as Release
    const { version } = release
    const stored = this.#stored('release')
    const known = this.#store.findNewest('release', ({ record }) => record.release.version === version)
    const release_id = known?.record.release_id ?? stored.id
    this.#append('release', [{ ...stored, release_id, release }], bytes)
    return ok({ release_id, version, registered_at: stored.received_at })
  }

  /** Handles `POST /heartbeat/{monitor_token}`. @param name not stored if it contains the token */
  heartbeat(token: string, name: string | null): Reply {
    const monitor = hashMonitorToken(token)
    if (this.#monitors !== undefined && !this.#monitors.has(monitor)) return notFound
    const stored = this.#stored('heartbeat')
    const shown = name !== null && containsSecret(name, token) ? null : name
    this.#append('heartbeat', [{ ...stored, monitor, name: shown }], 100)
    return ok({ status: 'ok', received_at: stored.received_at })
  }

  #storeEntries(entries: readonly LogEntry[], batch_id: string | null, bytes: number): void {
    const records = entries.map((entry): StoredEntry => ({ ...this.#stored('entry'), batch_id, entry }))
    this.#append('entry', records, bytes)
  }

  #stored(kind: RecordKind): Stored {
    const seq = ++this.#seq
    const id = `${ID_PREFIXES[kind]}_${this.#run}_${seq.toString(36)}`
    return { id, seq, received_at: new Date(this.#options.wallNow()).toISOString() }
  }

  #append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void {
    this.#options.onRecords(kind, this.#store.append(kind, records, bytes))
  }

  #remember(batchId: string, result: IngestResult): void {
    if (!this.#options.dedupeBatches) return
    this.#results.set(batchId, result)
    if (this.#results.size > MAX_RESULTS) this.#results.delete(this.#results.keys().next().value as string)
  }

  #refuse(endpoint: Endpoint, body: unknown, reply: Reply, problems: readonly EntryViolation[], accepted = 0): Reply {
    const record = {
      ...this.#stored('rejected'),
      endpoint,
      batch_id: findBatchId(body),
      status: reply.status,
      entries: countItems(body),
      accepted,
      reasons: problems
        .slice(0, MAX_REASONS)
        .map(({ loc, message }): RejectionReason => ({ loc, message, ...describeRejected(body, loc) })),
    }
    this.#append('rejected', [record], 1_000 * record.reasons.length)
    return reply
  }
}

function judgeEntry(entry: unknown, rejector: Rejector | undefined): readonly EntryViolation[] {
  const found = validateEntry(entry)
  if (found.length > 0 || rejector === undefined || !rejector.rejects(entry)) return found
  const kind = rejector.form === 'framework' ? 'schema' : 'value'
  return [{ kind, loc: ['message'], type: 'value_error', message: 'rejected by a scripted fault' }]
}

/** Computes the monitor id for the store and queries. It distinguishes monitors but cannot be used to ping one. */
function hashMonitorToken(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 12)
}

export function findBatchId(body: unknown): string | null {
  const id = isObject(body) ? body['batch_id'] : undefined
  return typeof id === 'string' ? id : null
}

export function countItems(body: unknown): number {
  const items = isObject(body) ? (body['logs'] ?? body['requests']) : undefined
  return Array.isArray(items) ? items.length : 0
}
