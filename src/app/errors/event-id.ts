/** [main] Ids of events: what a page shows to its user, and what feedback names. */
import { randomUUID } from 'node:crypto'
import { currentHistory } from '../scope/app-state.js'

/**
 * A new UUID, to be put on a record as `event_id`: `captureError(logger, error, { event_id })`. The service's interface does not say how it
 * names an event: the id travels in the entry's `metadata.event_id`, and feedback names it.
 */
export function newEventId(): string {
  return rememberEventId(randomUUID())
}

export function rememberEventId(id: string): string {
  currentHistory().eventId = id
  return id
}

/**
 * The newest of the current scope; outside any scope, of what happened outside any. Never another request's: feedback would
 * reach the wrong error.
 */
export function lastEventId(): string | undefined {
  return currentHistory().eventId
}
