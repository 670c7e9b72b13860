/** Formats relative times, and lays out the entries of a trace as bars on one scale (pure). */

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

export interface Moment {
  readonly timestamp: string
  /** An entry about a request is written at the end of the request. */
  readonly request?: { readonly duration_ms?: number }
}

export interface TimelineItem<T> {
  readonly item: T
  readonly offsetMs: number
  /** Shares of the total duration, 0 to 1. */
  readonly start: number
  readonly width: number
}

export interface Timeline<T> {
  readonly items: readonly TimelineItem<T>[]
  readonly totalMs: number
}

/** Sorts entries by time. Entries of the same millisecond keep their order. */
export function createTimeline<T extends Moment>(moments: readonly T[]): Timeline<T> {
  const spans = moments
    .map((item) => {
      const endMs = Date.parse(item.timestamp)
      const durationMs = item.request?.duration_ms ?? 0
      return { item, endMs, startMs: endMs - (durationMs > 0 && Number.isFinite(durationMs) ? durationMs : 0) }
    })
    .filter(({ endMs }) => Number.isFinite(endMs))
    .toSorted((a, b) => a.endMs - b.endMs)
  let firstMs = Infinity
  let lastMs = -Infinity
  for (const { startMs, endMs } of spans) {
    firstMs = Math.min(firstMs, startMs)
    lastMs = Math.max(lastMs, endMs)
  }
  const totalMs = spans.length === 0 ? 0 : lastMs - firstMs
  const share = (ms: number) => (totalMs === 0 ? 0 : ms / totalMs)
  return {
    totalMs,
    items: spans.map(({ item, startMs, endMs }) => ({
      item,
      offsetMs: endMs - firstMs,
      start: share(startMs - firstMs),
      width: share(endMs - startMs),
    })),
  }
}

/** Selects at most `count` items, with the current one near the middle. */
export function selectAround<T>(
  items: readonly T[],
  current: number,
  count: number,
): { from: number; items: readonly T[] } {
  const from = Math.max(0, Math.min(items.length - count, Math.max(0, current) - Math.floor(count / 2)))
  return { from, items: items.slice(from, from + count) }
}
