/** How long ago something was; it goes on while one looks. */
import { ago, fullTime } from '../view-format.js'
import { useNow } from './use-now.js'

export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={`${fullTime(at)} (${at})`}>
      {ago(at, useNow())}
    </time>
  )
}
