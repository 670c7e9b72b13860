/** Lays out a trace as rows: spans below their parents, positioned on one time scale (pure). */
import type { EntrySummary } from '../../query/api-types.js'

/** A span as in the reply to `GET traces/{trace_id}`. */
export interface Span {
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly service: string | null
  readonly name: string
  readonly started_at: string
  /** Null if unknown. */
  readonly duration_ms: number | null
}

/** Reason why a span is at the top level: it has no parent, the parent was not logged, or it is its own ancestor. */
export type Root = 'none' | 'missing' | 'cycle'

interface Place {
  readonly offsetMs: number
  /** Shares of the total duration, 0 to 1. */
  readonly start: number
  readonly width: number
  readonly depth: number
}

export interface SpanRow<S> extends Place {
  readonly kind: 'span'
  readonly span: S
  /** Null below a parent. */
  readonly root: Root | null
}

export interface EntryRow<E> extends Place {
  readonly kind: 'entry'
  readonly entry: E
}

export type WaterfallRow<S, E> = SpanRow<S> | EntryRow<E>

export interface Waterfall<S, E> {
  readonly rows: readonly WaterfallRow<S, E>[]
  readonly totalMs: number
}

type Moment = Pick<EntrySummary, 'timestamp'>

interface Node<S> {
  readonly span: S
  readonly startMs: number
  readonly endMs: number
  readonly children: Node<S>[]
  parent: Node<S> | undefined
}

/** Parents precede their children; siblings are sorted by time. An entry without a span precedes the first row that starts later. */
export function createWaterfall<S extends Span, E extends Moment>(
  spans: readonly S[],
  entries: readonly E[],
): Waterfall<S, E> {
  const nodes = spans.map(toNode).toSorted((a, b) => a.startMs - b.startMs)
  const moments = entries
    .map((entry) => ({ entry, startMs: Date.parse(entry.timestamp) }))
    .filter(({ startMs }) => Number.isFinite(startMs))
    .toSorted((a, b) => a.startMs - b.startMs)
  let firstMs = Infinity
  let lastMs = -Infinity
  for (const { startMs, endMs } of [...nodes, ...moments.map(({ startMs: ms }) => ({ startMs: ms, endMs: ms }))]) {
    firstMs = Math.min(firstMs, startMs)
    lastMs = Math.max(lastMs, endMs)
  }
  const totalMs = lastMs > firstMs ? lastMs - firstMs : 0
  const share = (ms: number) => (totalMs === 0 ? 0 : ms / totalMs)
  const place = (startMs: number, endMs: number, depth: number): Place => ({
    offsetMs: startMs - firstMs,
    start: share(startMs - firstMs),
    width: share(endMs - startMs),
    depth,
  })

  const rows: WaterfallRow<S, E>[] = []
  let nextEntry = 0
  const addEntries = (beforeMs: number): void => {
    for (let one = moments[nextEntry]; one !== undefined && one.startMs < beforeMs; one = moments[nextEntry]) {
      rows.push({ kind: 'entry', entry: one.entry, ...place(one.startMs, one.startMs, 0) })
      nextEntry += 1
    }
  }
  for (const { node, depth, root } of flatten(nodes)) {
    addEntries(node.startMs)
    rows.push({ kind: 'span', span: node.span, root, ...place(node.startMs, node.endMs, depth) })
  }
  addEntries(Infinity)
  return { rows, totalMs }
}

function toNode<S extends Span>(span: S): Node<S> {
  const startMs = Date.parse(span.started_at)
  return { span, startMs, endMs: startMs + Math.max(0, span.duration_ms ?? 0), children: [], parent: undefined }
}

interface Flat<S> {
  readonly node: Node<S>
  readonly depth: number
  readonly root: Root | null
}

/** Iterative, because a chain of spans can be longer than the call stack. */
function flatten<S extends Span>(nodes: readonly Node<S>[]): readonly Flat<S>[] {
  const byId = new Map<string, Node<S>>()
  for (const node of nodes) if (!byId.has(node.span.span_id)) byId.set(node.span.span_id, node)
  for (const node of nodes) {
    const { parent_span_id: parentId } = node.span
    node.parent = parentId === null ? undefined : byId.get(parentId)
    node.parent?.children.push(node)
  }
  const roots = nodes.flatMap((node): Flat<S>[] =>
    node.parent === undefined ? [{ node, depth: 0, root: node.span.parent_span_id === null ? 'none' : 'missing' }] : [],
  )
  const visited = new Set<Node<S>>()
  const trees = roots.map((root) => walk(root, visited))
  // The remaining spans are on a cycle or below one.
  for (const node of nodes) {
    if (!visited.has(node)) trees.push(walk({ node: findCycleStart(node), depth: 0, root: 'cycle' }, visited))
  }
  return trees
    .filter((tree) => tree.length > 0)
    .toSorted((a, b) => (a[0]?.node.startMs ?? 0) - (b[0]?.node.startMs ?? 0))
    .flat()
}

function walk<S>(root: Flat<S>, visited: Set<Node<S>>): readonly Flat<S>[] {
  const tree: Flat<S>[] = []
  const waiting = [root]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (visited.has(one.node)) continue
    visited.add(one.node)
    tree.push(one)
    const { depth } = one
    waiting.push(...one.node.children.toReversed().map((node) => ({ node, depth: depth + 1, root: null })))
  }
  return tree
}

/** Follows the ancestors of a span to a cycle, and returns the earliest span of the cycle. */
function findCycleStart<S>(from: Node<S>): Node<S> {
  const path = new Set<Node<S>>()
  let at = from
  while (!path.has(at)) {
    path.add(at)
    at = at.parent ?? at
  }
  let earliest = at
  for (let one = at.parent ?? at; one !== at; one = one.parent ?? at) if (one.startMs < earliest.startMs) earliest = one
  return earliest
}
