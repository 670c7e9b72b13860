/** The time since an event, kept up to date. */
import { formatAgo, formatFullTime } from '../view-format.js'
import { useNow } from '../use-now.js'

export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={`${formatFullTime(at)} (${at})`}>
      {formatAgo(at, useNow())}
    </time>
  )
}
