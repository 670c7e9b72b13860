/** Assembles one trace from its entries (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { EntrySummary, Trace, TraceSpan } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'
import { findOperationName, roundMs } from './traces.js'

const MAX_ENTRIES = 2000

type Members = readonly IndexedEntry[]
type Summarize = (entry: IndexedEntry) => EntrySummary

/** @param members entries of one trace, sorted by time, at least one */
export function toTrace(traceId: string, members: Members, summarize: Summarize): Trace {
  const shown = members.slice(0, MAX_ENTRIES)
  const bySpan = new Map<string, IndexedEntry[]>()
  const without: IndexedEntry[] = []
  for (const entry of shown) {
    const spanId = entry.record.entry.trace?.span_id
    const found = spanId === undefined ? without : bySpan.get(spanId)
    if (found !== undefined) found.push(entry)
    else bySpan.set(spanId as string, [entry])
  }
  const spans = [...bySpan].map(([spanId, entries]) => ({
    startMs: findTimes(entries).startMs,
    span: toSpan(spanId, entries, summarize),
  }))
  const { startMs, endMs } = findTimes(members)
  return {
    trace_id: traceId,
    name: findOperationName(members),
    started_at: new Date(startMs).toISOString(),
    duration_ms: roundMs(endMs - startMs),
    spans: spans.toSorted((a, b) => a.startMs - b.startMs).map(({ span }) => span),
    entries: without.map(summarize),
    omitted: members.length - shown.length,
  }
}

/** An entry with a duration is written at the end of its operation, so its start is earlier than its timestamp. */
function findTimes(members: Members): { readonly startMs: number; readonly endMs: number } {
  return {
    startMs: members.reduce((least, { timeMs, durationMs = 0 }) => Math.min(least, timeMs - durationMs), Infinity),
    endMs: members.reduce((most, { timeMs }) => Math.max(most, timeMs), -Infinity),
  }
}

function toSpan(spanId: string, members: Members, summarize: Summarize): TraceSpan {
  const { startMs, endMs } = findTimes(members)
  const isKnown = members.length > 1 || members[0]?.durationMs !== undefined
  const parents = members.map(({ record }) => record.entry.trace?.parent_span_id)
  const severity = Math.max(...members.map(({ level }) => LEVELS.indexOf(level)))
  return {
    span_id: spanId,
    parent_span_id: parents.find((parent) => parent !== undefined) ?? null,
    service: members.find(({ service }) => service !== undefined)?.service ?? null,
    name: findOperationName(members),
    started_at: new Date(startMs).toISOString(),
    duration_ms: isKnown ? roundMs(endMs - startMs) : null,
    level: LEVELS[severity] ?? 'debug',
    entries: members.map(summarize),
  }
}
