/** [main] The error of a response, which pino-http logs at the end of the request. */
import { serializeError } from '../../record/error-serializer.js'
import { messageOf } from '../errors/capture-error.js'
import { isLoggable } from '../logger/log-method.js'
import { findOrCreateRequestError } from '../scope/app-state.js'
import type { RequestError, ScopeHistory } from '../scope/app-state.js'

/** Node's response, with the error that pino-http logs. */
export interface LoggedResponse {
  err?: unknown
}

/** Sets `response.err`: the error, or plain data with the same id if pino's own serializer, which pino-http calls, would throw. */
export function setResponseError(
  response: LoggedResponse,
  error: unknown,
  history: ScopeHistory,
): RequestError | undefined {
  const known = findOrCreateRequestError(history, error)
  const logged = [error, serializeError(error)].find((one) => isLoggable(one)) ?? new Error(messageOf(error))
  if (known !== undefined) history.request?.errors.set(logged, known)
  response.err = logged
  return known
}
