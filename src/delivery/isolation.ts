/**
 * Divides jobs, so that an entry that the service refuses does not hold the others. Pure, but for the parts that
 * `createSubBatch` records in the acknowledgement of a batch.
 */
import type { Batch, DeadLetter } from '../batch/batch.js'
import type { Refused } from '../batch/outcome.js'
import { createBatchBody, createSubBatch, createSubBatchId, parseBatchEntries } from '../batch/sub-batch.js'
import type { IngestResultError } from '../protocol/ingest-result.js'
import { shortenToFit } from '../record/shorten-entry.js'
import { isExplained, isSingle } from './job.js'
import type { Job } from './job.js'

/**
 * Refusals of a single entry, each while others were accepted, after which it is a dead letter. After two, good entries were
 * among them in 1 of 4,000 simulated services whose gateway broke several times.
 */
const CONTENT_REFUSALS = 3
/** The same if the reply may be that of a gateway or of one bad node, which are mended within minutes. */
const GATEWAY_REFUSALS = 5
/** Interval of the attempts of a single entry that was refused. If it is the only job, this is also the interval of the probes. */
const SINGLE_RETRY_MS = 60_000
/** Other entries show more than a part of a refused batch, so they have this time to arrive. The isolation of bad content does not wait. */
const OTHERS_FIRST_MS = 2_000
/** A job that fails so often while others are accepted, or while nothing else is left to send, is divided. */
export const FAILURES_BEFORE_HALVES = 5
/** The same if nothing else will come: the pauses of an outage are longer, and somebody waits. */
export const FAILURES_BEFORE_HALVES_AT_END = 3
/** Failures with which each half starts, so that it is divided after two more. */
const INITIAL_FAILURES_OF_HALF = 3
/** Fewer bytes may not be enough for the required fields. */
const LEAST_ENTRY_BYTES = 1_024

/** What the scheduler knows at a reply. */
export interface ReplyContext {
  readonly now: number
  /** Number of requests begun. */
  readonly begun: number
  /** Whether the service works, and has accepted a request since the job's latest failure. */
  readonly isCausedByJob: boolean
}

/**
 * @param isContent whether the reply concerns the content, as a 400, and not perhaps the key, the URL or a gateway
 * @returns the job to send again; undefined if its only entry is a dead letter
 */
export function applyRefusal(job: Job, reply: Refused, isContent: boolean, context: ReplyContext): Job | undefined {
  const { now, begun, isCausedByJob } = context
  const before = job.standing.kind === 'refused' ? job.standing.timesAlone : 0
  const counts = isSingle(job) && (before === 0 || isCausedByJob)
  const timesAlone = before + Number(counts)
  if (counts && timesAlone >= (isContent ? CONTENT_REFUSALS : GATEWAY_REFUSALS)) return undefined
  const partDelayMs = isContent && job.batch.origin !== undefined ? 0 : OTHERS_FIRST_MS
  return {
    ...job,
    standing: { kind: 'refused', timesAlone, isContent, reply },
    notBefore: now + (isSingle(job) ? SINGLE_RETRY_MS : partDelayMs),
    begunAtFailure: begun,
  }
}

/** Whether a refused job may be sent again, in halves or as a single entry. */
export function isRefusedDue(job: Job, now: number, latestAccepted: number): boolean {
  const { standing, notBefore } = job
  if (notBefore <= now) return true
  const isWaitingForMinutes = isSingle(job) && standing.kind === 'refused' && !standing.isContent
  return !isWaitingForMinutes && isExplained(job, latestAccepted)
}

/** The two halves, in order. The caller must send both, because the cut is recorded. */
export function halve(job: Job): [Job, Job] {
  const { count } = job.batch
  const failures = job.standing.kind === 'suspect' ? INITIAL_FAILURES_OF_HALF : 0
  const half = { ...job, standing: { kind: 'suspect', failures } as const, notBefore: -Infinity, attempts: 0 }
  return split(half, range(0, Math.ceil(count / 2))) as [Job, Job]
}

/** As `halve`, for a body that is too large: neither half is suspect. */
export function halveTooLarge(job: Job): [Job, Job] {
  const [first, second] = halve(job)
  return [
    { ...first, standing: job.standing },
    { ...second, standing: job.standing },
  ]
}

/** A single entry as a probe, and the rest. */
export function cutOne(job: Job, begun: number, random: () => number): [Job, Job | undefined] {
  const [one, rest] = split(job, [Math.floor(random() * job.batch.count)])
  return [one, rest && { ...rest, begunAtFailure: begun }]
}

/** The job without the entries that the reply names. */
export function without(job: Job, named: ReadonlySet<number>): Job | undefined {
  const left = range(0, job.batch.count).filter((index) => !named.has(index))
  if (left.length === 0) return undefined
  return { ...job, batch: createSubBatch(job.batch, left, parseBatchEntries(job.batch.body)), notBefore: -Infinity }
}

/** The single entry, shortened to half of its bytes, but not below 1 KiB; undefined if it has that size already. */
export function shorten(job: Job): Job | undefined {
  const { batch } = job
  const [entry = ''] = parseBatchEntries(batch.body)
  const bytes = Buffer.byteLength(entry)
  if (bytes <= LEAST_ENTRY_BYTES) return undefined
  const whole = job.whole ?? entry
  const json = shortenToFit(whole, Math.max(Math.floor(bytes / 2), LEAST_ENTRY_BYTES))
  // Different content needs a different batch id.
  const batchId = createSubBatchId(batch.batchId, [0])
  const origin = batch.origin ?? { batchId: batch.batchId, positions: [0] }
  return { ...job, whole, batch: { ...batch, batchId, origin, body: createBatchBody(batchId, [json]) } }
}

/** The dead letters for errors with positions in the batch. @param mask removes secrets, since a reply may repeat the key */
export function toDeadLetters(
  { batch, whole }: Pick<Job, 'batch' | 'whole'>,
  errors: readonly IngestResultError[],
  status: number,
  mask: (text: string) => string,
): DeadLetter[] {
  const { origin, batchId } = batch
  const entries = parseBatchEntries(batch.body)
  return errors.map(({ index, code, field, message }) => ({
    batchId: origin?.batchId ?? batchId,
    index: origin?.positions[index] ?? index,
    status,
    code: mask(code),
    field: mask(field),
    reason: mask(message),
    entry: whole ?? entries[index] ?? '',
  }))
}

export function rootIdOf({ origin, batchId }: Batch): string {
  return origin?.batchId ?? batchId
}

function split(job: Job, first: readonly number[]): [Job, Job | undefined] {
  const { batch } = job
  const entries = parseBatchEntries(batch.body)
  const second = range(0, batch.count).filter((index) => !first.includes(index))
  const part = (indexes: readonly number[]): Job => ({ ...job, batch: createSubBatch(batch, indexes, entries) })
  return [part(first), second.length === 0 ? undefined : part(second)]
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
