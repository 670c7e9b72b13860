/** Formats relative times, and lays out the spans of a trace as bars on one scale (pure). */
import type { Level } from '../../../protocol/log-entry.js'
import type { EntrySummary, Timeline, TraceSpan } from '../../query/api-types.js'
import { formatRowText } from '../row-text.js'

/** Formats an offset: `−1.2 s`, `+35 ms`, `0 ms`. Empty for an invalid time. */
export function formatOffset(ms: number): string {
  if (!Number.isFinite(ms)) return ''
  const size = Math.abs(ms)
  const sign = ms < 0 ? '−' : ms > 0 ? '+' : ''
  return sign + sizeText(size)
}

function sizeText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1_000) % 60} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} d`
}

export interface TimelineRow {
  readonly id: string
  readonly name: string
  readonly service: string | null
  readonly level: Level
  readonly entries: readonly EntrySummary[]
  /** Null if unknown; zero for an entry. */
  readonly durationMs: number | null
  readonly offsetMs: number
  /** Shares of the total duration, 0 to 1. */
  readonly start: number
  readonly width: number
  readonly depth: number
  /** Parent span, if its entries are not stored. */
  readonly missingParent: string | null
}

interface Node extends Pick<TimelineRow, 'id' | 'name' | 'service' | 'level' | 'entries' | 'durationMs'> {
  readonly parentId: string | null
  readonly startMs: number
  readonly endMs: number
}

/** Parents precede their children; siblings are sorted by time. */
export function createTimeline({ spans, entries }: Pick<Timeline, 'spans' | 'entries'>): {
  readonly rows: readonly TimelineRow[]
  readonly totalMs: number
} {
  const nodes = [...spans.map(toSpanNode), ...entries.map(toEntryNode)].toSorted((a, b) => a.startMs - b.startMs)
  const firstMs = nodes[0]?.startMs ?? 0
  const totalMs = nodes.reduce((most, { endMs }) => Math.max(most, endMs - firstMs), 0)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const children = new Map<string, Node[]>()
  for (const node of nodes) {
    if (node.parentId === null) continue
    const siblings = children.get(node.parentId)
    if (siblings === undefined) children.set(node.parentId, [node])
    else siblings.push(node)
  }
  const isRoot = ({ parentId }: Node): boolean => parentId === null || !byId.has(parentId)
  const rows = new Map<Node, TimelineRow>()
  // A span that is its own ancestor is below no root. The stack is a list, because a chain of spans can be longer than the call stack.
  for (const root of [...nodes.filter(isRoot), ...nodes]) {
    const waiting = [{ node: root, depth: 0 }]
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const { node, depth } = one
      if (rows.has(node)) continue
      const { parentId, startMs, endMs, ...shown } = node
      rows.set(node, {
        ...shown,
        offsetMs: startMs - firstMs,
        start: totalMs === 0 ? 0 : (startMs - firstMs) / totalMs,
        width: totalMs === 0 ? 0 : (endMs - startMs) / totalMs,
        depth,
        missingParent: isRoot(node) ? parentId : null,
      })
      waiting.push(...(children.get(node.id) ?? []).toReversed().map((child) => ({ node: child, depth: depth + 1 })))
    }
  }
  return { rows: [...rows.values()], totalMs }
}

function toSpanNode({ span_id: id, parent_span_id: parentId, started_at: at, duration_ms, ...span }: TraceSpan): Node {
  const startMs = Date.parse(at)
  const { name, service, level, entries } = span
  return {
    id,
    parentId,
    name,
    service,
    level,
    entries,
    startMs,
    endMs: startMs + (duration_ms ?? 0),
    durationMs: duration_ms,
  }
}

function toEntryNode(entry: EntrySummary): Node {
  const { id, service = null, level, timestamp } = entry
  const name = formatRowText(entry)
  const startMs = Date.parse(timestamp)
  return { id, parentId: null, name, service, level, entries: [entry], startMs, endMs: startMs, durationMs: 0 }
}
