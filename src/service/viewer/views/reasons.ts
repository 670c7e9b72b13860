/** Groups the reasons of a rejection by message (pure). */
import type { RejectionReason } from '../../store/stored-record.js'
import { formatPath } from '../detail/tree.js'

export interface ReasonGroup {
  readonly message: string
  /** Paths of the fields: `logs[3].level`; `the body` for a reason without a field. */
  readonly places: readonly string[]
}

export function groupReasons(reasons: readonly RejectionReason[]): readonly ReasonGroup[] {
  const groups = new Map<string, string[]>()
  for (const { loc, message } of reasons) {
    const place = loc.length === 0 ? 'the body' : formatPath(loc)
    const places = groups.get(message)
    if (places === undefined) groups.set(message, [place])
    else places.push(place)
  }
  return [...groups].map(([message, places]) => ({ message, places }))
}
