/** [main] The errors of a request, with the ids of their entries. */
import { randomUUID } from 'node:crypto'
import type { RequestError, ScopeHistory } from './app-state.js'

/** Maximum number of errors kept per request; the oldest is removed. A request can last as long as its connection. */
const MAX_ERRORS = 16

/**
 * Returns the record of the error with its id, which is created if there is none. Undefined outside `requestScope()`.
 *
 * @param given the id of the record that logs the error
 */
export function findOrCreateRequestError(
  history: ScopeHistory,
  error: unknown,
  given?: string,
): RequestError | undefined {
  const errors = history.request?.errors
  if (errors === undefined) return undefined
  let known = errors.get(error)
  if (known === undefined || (given !== undefined && given !== known.eventId)) {
    for (const oldest of errors.keys()) if (errors.size >= MAX_ERRORS) errors.delete(oldest)
    known = { eventId: given ?? randomUUID(), isReferenced: false, isLogged: false }
    errors.set(error, known)
  }
  return known
}
