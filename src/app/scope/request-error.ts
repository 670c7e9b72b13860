/** [main] The errors of a request, with the ids of their entries. */
import { randomUUID } from 'node:crypto'
import type { RequestError, ScopeHistory } from './app-state.js'

/** Of one request, which may be a connection that stays open. The oldest is removed. */
const MAX_ERRORS = 16

/**
 * Returns the error's id, and creates one if there is none. Undefined outside `requestScope()`.
 *
 * @param given the id of the record that logs the error
 */
export function keepRequestError(history: ScopeHistory, error: unknown, given?: string): RequestError | undefined {
  const errors = history.request?.errors
  if (errors === undefined) return undefined
  let known = errors.get(error)
  if (known === undefined || (given !== undefined && given !== known.eventId)) {
    for (const oldest of errors.keys()) if (errors.size >= MAX_ERRORS) errors.delete(oldest)
    known = { eventId: given ?? randomUUID(), isLogged: false }
    errors.set(error, known)
  }
  history.eventId = known.eventId
  return known
}
