/** Small components that all views share. */
import type { ComponentChildren } from 'preact'
import type { Level } from '../../protocol/log-entry.js'
import { ApiError } from './api.js'
import { useNow } from './use-now.js'
import { formatAgo, formatFullTime, formatShortTime } from './view-format.js'

export function LevelBadge({ level }: { level: Level }) {
  return (
    <span class="level" data-level={level}>
      {level}
    </span>
  )
}

export function Time({ at }: { at: string }) {
  return (
    <time class="time" dateTime={at} title={`${formatFullTime(at)} (${at})`}>
      {formatShortTime(at)}
    </time>
  )
}

/** The time since an event, kept up to date. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={`${formatFullTime(at)} (${at})`}>
      {formatAgo(at, useNow())}
    </time>
  )
}

/** Shows why loading failed. The filter bar shows errors in the query. */
export function Problem({ error }: { error: Error | undefined }) {
  if (error === undefined || (error instanceof ApiError && error.range !== undefined)) return null
  // fetch() throws a TypeError if the service is unreachable.
  const text = !(error instanceof ApiError)
    ? 'The service does not answer. Is pino-ingest dev still running?'
    : error.status < 500
      ? error.message
      : `The service failed: ${error.message} (status ${error.status}). Its output in the terminal shows more; reload the page to try again.`
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** A small bar chart with a label for screen readers. */
export function Bars({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values)
  return (
    <svg class="bars" role="img" aria-label={label} viewBox={`0 0 ${values.length * 4} 20`} preserveAspectRatio="none">
      {values.map((value, index) => {
        // Keeps small values visible.
        const height = value === 0 ? 0.75 : Math.max(2, (value / most) * 20)
        return (
          <rect
            key={index}
            class={value === 0 ? 'none' : undefined}
            x={index * 4}
            y={20 - height}
            width={3}
            height={height}
          />
        )
      })}
    </svg>
  )
}
