/** [main] Ids of events, which applications show to users and which feedback refers to. */
import { randomUUID } from 'node:crypto'
import { findHistory } from '../scope/app-state.js'

/**
 * A new UUID, to be put on a record as `event_id`: `captureError(logger, error, { event_id })`. The service's interface does not define
 * ids of events: the id is stored in the entry's `metadata.event_id`, and feedback refers to it.
 */
export function newEventId(): string {
  return rememberEventId(randomUUID())
}

export function rememberEventId(id: string): string {
  findHistory().eventId = id
  return id
}

/**
 * The newest id of the current scope, or of the process outside any scope. Never the id of another request, since
 * feedback would refer to the wrong error.
 */
export function findLastEventId(): string | undefined {
  return findHistory().eventId
}
