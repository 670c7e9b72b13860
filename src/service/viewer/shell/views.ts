/** Titles of the views, and the kinds of records that they show. */
import type { RecordKind } from '../../store/stored-record.js'
import type { ViewName } from '../view.js'

export interface ViewTitle {
  readonly title: string
  /** The kind of record counted next to the title; null for no count. */
  readonly counts: readonly [kind: RecordKind, one: string, many: string] | null
}

export const VIEW_TITLES: Readonly<Record<ViewName, ViewTitle>> = {
  entries: { title: 'Entries', counts: ['entry', 'entry', 'entries'] },
  errors: { title: 'Errors', counts: null },
  traces: { title: 'Traces', counts: null },
  requests: { title: 'Requests', counts: ['request', 'request', 'requests'] },
  releases: { title: 'Releases', counts: ['release', 'registration', 'registrations'] },
  monitors: { title: 'Monitors', counts: null },
  feedback: { title: 'Feedback', counts: ['feedback', 'comment', 'comments'] },
  rejected: { title: 'Rejected', counts: ['rejected', 'refused request', 'refused requests'] },
}
