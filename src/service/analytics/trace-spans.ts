/** Assembles the spans of one trace or one request from its entries (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { EntrySummary, Timeline, TraceSpan } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import { findOperationName, roundMs } from './traces.js'

const MAX_ENTRIES = 2000

type Members = readonly IndexedEntry[]
type Summarize = (entry: IndexedEntry) => EntrySummary

/**
 * Entries with a span id are the spans. An application without OpenTelemetry logs none: then the entries of a request are a span if one
 * of them has a duration, as the entry that ends the request has.
 * @param members entries of one trace or one request, sorted by time, at least one
 */
export function toTimeline(members: Members, summarize: Summarize): Timeline {
  const shown = members.slice(0, MAX_ENTRIES)
  const groups = new Map<string, IndexedEntry[]>()
  for (const entry of shown) {
    const key = toSpanKey(entry)
    const found = groups.get(key)
    if (found !== undefined) found.push(entry)
    else groups.set(key, [entry])
  }
  const isSpan = ([first, ...others]: Members): boolean =>
    first?.record.entry.trace?.span_id !== undefined ||
    [first, ...others].some((entry) => entry?.durationMs !== undefined)
  const all = [...groups.values()]
  const spans = all.filter(isSpan).map((entries) => ({
    startMs: findTimes(entries).startMs,
    span: toSpan(entries, summarize),
  }))
  const { startMs, endMs } = findTimes(members)
  return {
    name: findOperationName(members),
    started_at: new Date(startMs).toISOString(),
    duration_ms: roundMs(endMs - startMs),
    spans: spans.toSorted((a, b) => a.startMs - b.startMs).map(({ span }) => span),
    entries: all
      .filter((entries) => !isSpan(entries))
      .flat()
      .toSorted((a, b) => a.timeMs - b.timeMs || a.seq - b.seq)
      .map(summarize),
    omitted: members.length - shown.length,
  }
}

function toSpanKey({ seq, service = '', run, request_id: id, record: { entry } }: IndexedEntry): string {
  const spanId = entry.trace?.span_id
  if (spanId !== undefined) return `span ${spanId}`
  return id === undefined ? `entry ${seq}` : `request ${run?.id ?? service}\0${id}`
}

/** An entry with a duration is written at the end of its operation, so its start is earlier than its timestamp. */
function findTimes(members: Members): { readonly startMs: number; readonly endMs: number } {
  return {
    startMs: members.reduce((least, { timeMs, durationMs = 0 }) => Math.min(least, timeMs - durationMs), Infinity),
    endMs: members.reduce((most, { timeMs }) => Math.max(most, timeMs), -Infinity),
  }
}

function toSpan(members: Members, summarize: Summarize): TraceSpan {
  const { startMs, endMs } = findTimes(members)
  const [first] = members
  const spanId = first?.record.entry.trace?.span_id
  const isKnown = members.length > 1 || first?.durationMs !== undefined
  const parents = members.map(({ record }) => record.entry.trace?.parent_span_id)
  const severity = Math.max(...members.map(({ level }) => LEVELS.indexOf(level)))
  return {
    span_id: spanId ?? first?.record.id ?? '',
    // Without span ids, the parent of a request is not logged.
    parent_span_id: spanId === undefined ? null : (parents.find((parent) => parent !== undefined) ?? null),
    service: members.find(({ service }) => service !== undefined)?.service ?? null,
    name: findOperationName(members),
    started_at: new Date(startMs).toISOString(),
    duration_ms: isKnown ? roundMs(endMs - startMs) : null,
    level: LEVELS[severity] ?? 'debug',
    entries: members.map(summarize),
  }
}
