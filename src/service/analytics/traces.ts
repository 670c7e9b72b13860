/** Groups entries by trace, and pages the list of traces (pure). */
import type { EntryTrace } from '../../protocol/log-entry.js'
import type { TraceSummary } from '../query/api-types.js'
import { checkSort, parseNumberCursor } from '../query/query-filters.js'
import { truncate } from '../query/truncate.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import { comparePositions } from '../store/time-index.js'
import type { Page } from '../store/stored-record.js'
import { isErrorLevel } from './histogram.js'

const MAX_NAME = 200
const MAX_SERVICES = 10

interface Tally {
  readonly traceId: string
  /** `seq` of the first entry. Sorts traces that start in the same millisecond: the last to arrive comes first. */
  readonly seq: number
  timeMs: number
  endMs: number
  entries: number
  errors: number
  /** Collected for the traces of the page only. */
  members: IndexedEntry[] | undefined
}

interface Tallies {
  readonly all: readonly Tally[]
  /** The tally of each entry, by index, to avoid a second lookup. */
  readonly byEntry: readonly (Tally | undefined)[]
}

/** @param entries sorted by time @param wanted trace ids; undefined for all */
function tallyTraces(entries: readonly IndexedEntry[], wanted: ReadonlySet<string | undefined> | undefined): Tallies {
  const tallies = new Map<string, Tally>()
  const byEntry = entries.map(({ trace_id: traceId, timeMs, durationMs, level, seq }): Tally | undefined => {
    if (traceId === undefined || traceId === '') return undefined
    const startMs = durationMs === undefined ? timeMs : timeMs - durationMs
    const errors = isErrorLevel(level) ? 1 : 0
    const known = tallies.get(traceId)
    if (known !== undefined) {
      if (startMs < known.timeMs) known.timeMs = startMs
      known.endMs = timeMs
      known.entries++
      known.errors += errors
      return known
    }
    if (wanted !== undefined && !wanted.has(traceId)) return undefined
    const tally = { traceId, seq, timeMs: startMs, endMs: timeMs, entries: 1, errors, members: undefined }
    tallies.set(traceId, tally)
    return tally
  })
  return { all: [...tallies.values()], byEntry }
}

const SORTS = ['start', 'duration', 'errors'] as const

/** Number by which the traces are sorted, greatest first. */
function rank({ timeMs, endMs, errors }: Tally, sort: string | undefined): number {
  return sort === 'duration' ? endMs - timeMs : sort === 'errors' ? errors : timeMs
}

/**
 * Lists traces with at least one matching entry, by default latest start first. Counts and durations include entries that do not match.
 * @param entries all entries, sorted by time @throws IngestServiceError `QUERY`.
 */
export function listTraces(
  entries: readonly IndexedEntry[],
  matching: readonly IndexedEntry[],
  limit: number,
  cursor: string | undefined,
  sort: string | undefined,
  hasFeedback: (entry: IndexedEntry) => boolean,
): Page<TraceSummary> {
  checkSort(sort, SORTS)
  const after = cursor === undefined ? undefined : parseTraceCursor(cursor)
  const wanted = matching.length === entries.length ? undefined : new Set(matching.map(({ trace_id }) => trace_id))
  const { all, byEntry } = tallyTraces(entries, wanted)
  const ranked = all.map((tally) => ({ tally, timeMs: rank(tally, sort), seq: tally.seq }))
  const rest = after === undefined ? ranked : ranked.filter((one) => comparePositions(one, after) < 0)
  const sorted = rest.toSorted((a, b) => comparePositions(b, a))
  const page = sorted.slice(0, limit)
  const end = sorted.length > limit ? page.at(-1) : undefined
  for (const { tally } of page) tally.members = []
  for (const [n, entry] of entries.entries()) byEntry[n]?.members?.push(entry)
  return {
    items: page.map(({ tally }) => toSummary(tally, hasFeedback)),
    next: end === undefined ? null : `${end.timeMs}_${end.seq}`,
  }
}

function parseTraceCursor(cursor: string): { readonly timeMs: number; readonly seq: number } {
  const { value: timeMs, seq } = parseNumberCursor(cursor)
  return { timeMs, seq }
}

function toSummary(
  { traceId, timeMs, endMs, entries, errors, members = [] }: Tally,
  hasFeedback: (entry: IndexedEntry) => boolean,
): TraceSummary {
  const feedback = members.filter(hasFeedback).length
  const services = [...new Set(members.map(({ service }) => service))].filter((service) => service !== undefined)
  return {
    trace_id: traceId,
    started_at: new Date(timeMs).toISOString(),
    duration_ms: roundMs(endMs - timeMs),
    entries,
    errors,
    services: services.slice(0, MAX_SERVICES),
    name: findOperationName(members),
    ...(feedback > 0 && { feedback }),
  }
}

/**
 * Method and path of the root span's request, else of the request that started first; without a request the action or
 * message of the first entry. The first entry with a request is often that of an inner service, because a request is
 * logged when it ends.
 */
export function findOperationName(members: readonly IndexedEntry[]): string {
  const spans = new Set(members.map(({ record }) => record.entry.trace?.span_id))
  const isRoot = ({ span_id: id, parent_span_id: parent }: EntryTrace): boolean =>
    id !== undefined && (parent === undefined || !spans.has(parent))
  let name: string | undefined
  let least = Infinity
  let isOfRoot = false
  for (const { record, timeMs, durationMs = 0 } of members) {
    const { request: { method, path } = {}, trace = {} } = record.entry
    if (path === undefined) continue
    const startMs = timeMs - durationMs
    const isRootSpan = isRoot(trace)
    if (isRootSpan === isOfRoot ? startMs >= least : isOfRoot) continue
    name = `${method ?? ''} ${path}`.trim()
    least = startMs
    isOfRoot = isRootSpan
  }
  const first = members[0]?.record.entry
  return truncate(name ?? first?.action ?? first?.message ?? '', MAX_NAME)
}

/** Rounds to microseconds, because floating-point differences have meaningless further digits. */
export function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
