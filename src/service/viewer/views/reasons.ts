/** Groups the reasons of a rejection by message (pure). */
import type { RejectionReason } from '../../store/stored-record.js'
import { formatPath } from '../detail/tree.js'

export interface ReasonGroup {
  readonly message: string
  readonly places: readonly RefusedPlace[]
}

export interface RefusedPlace extends Pick<RejectionReason, 'value' | 'entry'> {
  /** Path of the field: `logs[3].level`; `the body` for a reason without a field. */
  readonly path: string
}

export function groupReasons(reasons: readonly RejectionReason[]): readonly ReasonGroup[] {
  const groups = new Map<string, RefusedPlace[]>()
  for (const { loc, message, ...refused } of reasons) {
    const place = { path: loc.length === 0 ? 'the body' : formatPath(loc), ...refused }
    const places = groups.get(message)
    if (places === undefined) groups.set(message, [place])
    else places.push(place)
  }
  return [...groups].map(([message, places]) => ({ message, places }))
}
