/** The breadcrumbs of an error, on a timeline that ends with the error. */
import { useState } from 'preact/hooks'
import type { Breadcrumb, LogEntry } from '../../../protocol/log-entry.js'
import { createMute, mutes } from '../mutes.js'
import { useObservable } from '../use-observable.js'
import { formatFullTime, formatPlural } from '../view-format.js'
import { LongText, MoreButton } from './show-more.js'
import { formatOffset } from './timeline.js'
import { truncate } from './tree.js'
import { InlineValues } from './value-menu.js'

const STEP = 30

interface BreadcrumbsProps {
  readonly breadcrumbs: readonly Breadcrumb[]
  readonly entry: LogEntry
}

/** Shows the last breadcrumbs, which are closest to the error; older ones, and those with a muted logger or message, on demand. */
export function Breadcrumbs({ breadcrumbs, entry }: BreadcrumbsProps) {
  const muted = useObservable(mutes)
  const [showsMuted, setShowsMuted] = useState(false)
  const [shown, setShown] = useState(STEP)
  const unmuted = breadcrumbs.filter(({ category, message }) => {
    const terms = [createMute('metadata.logger', category ?? ''), createMute('message', message ?? '')]
    return !terms.some((term) => term !== undefined && muted.includes(term))
  })
  const listed = showsMuted ? breadcrumbs : unmuted
  const hidden = Math.max(0, listed.length - shown)
  return (
    <>
      <MoreButton rest={hidden} step={STEP} noun="breadcrumbs" onMore={() => setShown(shown + STEP)} />
      {listed.length < breadcrumbs.length && (
        <button type="button" class="button small more" onClick={() => setShowsMuted(true)}>
          Show {formatPlural(breadcrumbs.length - listed.length, 'muted one', 'muted ones')}
        </button>
      )}
      <ol>
        {listed.slice(hidden).map((breadcrumb, index) => (
          <BreadcrumbItem key={hidden + index} breadcrumb={breadcrumb} endMs={Date.parse(entry.timestamp)} />
        ))}
        <li class="breadcrumb end" data-level={entry.level}>
          <span class="offset">0 ms</span>
          <b>{truncate(entry.error?.type ?? 'This entry', 100)}</b>
        </li>
      </ol>
    </>
  )
}

function BreadcrumbItem({
  breadcrumb: { timestamp, type, category, level, message, data = {} },
  endMs,
}: {
  readonly breadcrumb: Breadcrumb
  readonly endMs: number
}) {
  const kinds = [...new Set([type, category, level])].filter((one) => one !== undefined && one !== '').join(' · ')
  const hasData = Object.keys(data).length > 0
  return (
    <li class="breadcrumb" data-level={level}>
      <span class="offset" title={timestamp === undefined ? undefined : `${formatFullTime(timestamp)} (${timestamp})`}>
        {timestamp === undefined ? '' : formatOffset(Date.parse(timestamp) - endMs)}
      </span>
      <div class="inline">
        {kinds !== '' && <span class="kind">{truncate(kinds, 100)}</span>}
        <LongText text={message ?? (hasData ? '' : '(no message)')} maxChars={300} maxLines={4} />
        <InlineValues values={data} field={() => 'breadcrumbs'} />
      </div>
    </li>
  )
}
