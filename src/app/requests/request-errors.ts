/** [main] An error handler for Express, which passes no errors to pino-http. */
import { openErrorScope } from './request-scope.js'
import type { ScopedRequest } from './request-scope.js'
import { setResponseError } from './response-error.js'
import type { LoggedResponse } from './response-error.js'

/** What `requestErrors()` returns. */
export type RequestErrorHandler = (
  error: unknown,
  request: ScopedRequest,
  response: object,
  next: (error?: unknown) => void,
) => void

interface ExpressResponse extends LoggedResponse {
  locals?: Record<string, unknown>
}

/**
 * An error handler for Express: `app.use(requestErrors())`, after all routes and before the application's own error handlers, which
 * are called with the same error. The record of the request by pino-http then has this error and an `event_id`, which is also
 * `res.locals.eventId`: show it to the user, and give it to `sendFeedback()`. Needs pino-http, and a logger made with `ingestOptions()`.
 *
 * It never throws.
 */
export function requestErrors(): RequestErrorHandler {
  return (error, request, response, next) => {
    keepError(error, request, response)
    next(error)
  }
}

function keepError(error: unknown, request: ScopedRequest, response: ExpressResponse): void {
  try {
    const known = setResponseError(response, error, openErrorScope(request, response).history)
    const locals = (response.locals ??= {})
    locals['eventId'] = known?.eventId
  } catch {
    // A frozen response, which is not logged with the error.
  }
}
