/** Whether a destination contains log entries or request logs, which have their own endpoint. */
import { formatCount, formatEntryCount } from '../shared/terminal.js'

export type ItemKind = 'entries' | 'requests'

export function formatItemCount(count: number, kind: ItemKind): string {
  return kind === 'requests' ? formatCount(count, 'request log', 'request logs') : formatEntryCount(count)
}

/** `130 entries and 250 request logs`. */
export function formatItemCounts(counts: readonly { readonly kind: ItemKind; readonly entries: number }[]): string {
  const sum = (isRequests: boolean): number =>
    counts.filter(({ kind }) => (kind === 'requests') === isRequests).reduce((total, { entries }) => total + entries, 0)
  return sum(true) === 0
    ? formatEntryCount(sum(false))
    : `${formatEntryCount(sum(false))} and ${formatItemCount(sum(true), 'requests')}`
}
