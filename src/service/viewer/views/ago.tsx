/** The time since an event, kept up to date. */
import { ago, fullTime } from '../view-format.js'
import { useNow } from '../use-now.js'

export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={`${fullTime(at)} (${at})`}>
      {ago(at, useNow())}
    </time>
  )
}
