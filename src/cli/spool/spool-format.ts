/** Formats counts of items in a spool. Pure. */
import { formatCount, formatEntryCount } from '../shared/terminal-format.js'
import type { ItemKind } from './item-kind.js'

/** @param kind undefined if unknown */
export function formatItemCount(count: number, kind: ItemKind | undefined): string {
  return kind === 'requests' ? formatCount(count, 'request log', 'request logs') : formatEntryCount(count)
}

/** `130 entries and 250 request logs`. */
export function formatItemCounts(
  counts: readonly { readonly kind: ItemKind | undefined; readonly entries: number }[],
): string {
  const sum = (isRequests: boolean): number =>
    counts.filter(({ kind }) => (kind === 'requests') === isRequests).reduce((total, { entries }) => total + entries, 0)
  return sum(true) === 0
    ? formatEntryCount(sum(false))
    : `${formatEntryCount(sum(false))} and ${formatItemCount(sum(true), 'requests')}`
}
