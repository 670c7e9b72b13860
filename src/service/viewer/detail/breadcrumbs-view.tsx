/** The breadcrumbs of an error, on a timeline that ends with the error. */
import { useState } from 'preact/hooks'
import type { Breadcrumb, LogEntry } from '../../../protocol/log-entry.js'
import { formatCount, formatFullTime } from '../view-format.js'
import { LongText } from './show-more.js'
import { formatOffset } from './timeline.js'
import { Fold } from './section.js'
import { Tree } from './tree-view.js'
import { truncate, formatPreview } from './tree.js'
import { ValueMenu } from './value-menu.js'

const STEP = 30

/** Shows the last breadcrumbs, which are closest to the error; older ones on demand. */
export function Breadcrumbs({
  breadcrumbs,
  entry,
}: {
  readonly breadcrumbs: readonly Breadcrumb[]
  readonly entry: LogEntry
}) {
  const [shown, setShown] = useState(STEP)
  const hidden = Math.max(0, breadcrumbs.length - shown)
  const next = Math.min(STEP, hidden)
  return (
    <>
      {hidden > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + STEP)}>
          Show {formatCount(next)} earlier{hidden > next && ` of ${formatCount(hidden)}`}
        </button>
      )}
      <ol class="breadcrumbs">
        {breadcrumbs.slice(hidden).map((breadcrumb, index) => (
          <BreadcrumbItem key={hidden + index} breadcrumb={breadcrumb} endMs={Date.parse(entry.timestamp)} />
        ))}
        <li class="breadcrumb end" data-level={entry.level}>
          <span class="offset">0 ms</span>
          <div class="breadcrumb-text">
            <b>{truncate(entry.error?.type ?? 'This entry', 100)}</b>
          </div>
        </li>
      </ol>
    </>
  )
}

function BreadcrumbItem({
  breadcrumb: { timestamp, type, category, level, message, data },
  endMs,
}: {
  readonly breadcrumb: Breadcrumb
  readonly endMs: number
}) {
  const hasData = data !== undefined && Object.keys(data).length > 0
  const kinds = [...new Set([type, category])].filter((one) => one !== undefined && one !== '').join(' · ')
  return (
    <li class="breadcrumb" data-level={level}>
      <span class="offset" title={timestamp === undefined ? undefined : `${formatFullTime(timestamp)} (${timestamp})`}>
        {timestamp === undefined ? '' : formatOffset(Date.parse(timestamp) - endMs)}
      </span>
      <div class="breadcrumb-text">
        {kinds !== '' && <span class="kind">{truncate(kinds, 80)}</span>}
        {level !== undefined && level !== kinds && <span class="breadcrumb-level">{truncate(level, 20)}</span>}
        <LongText text={message ?? (hasData ? '' : '(no message)')} maxChars={300} maxLines={4} />
        {message !== undefined && <ValueMenu name="Breadcrumb" field="breadcrumbs" value={message} />}
        {hasData && (
          <Fold summary={<span class="preview">{formatPreview(data)}</span>}>
            {() => <Tree value={data} label="Data of the breadcrumb" field={() => 'breadcrumbs'} />}
          </Fold>
        )}
      </div>
    </li>
  )
}
