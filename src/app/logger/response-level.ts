/** [main] The level at which pino-http logs a request, and pino-http's options. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DestinationStream, Level, LevelWithSilent, Logger } from 'pino'
import { resolveLevel } from '../../record/coerce.js'
import { findResponseScope } from '../scope/app-state.js'

/** Options of pino-http, which are passed on. Declared here, so that these types do not need that package. */
export interface HttpLoggerOptions {
  /** pino-http: the logger whose child logs the requests. */
  logger?: Logger | undefined
  /** pino-http: the destination, if there is no `logger`. */
  stream?: DestinationStream | undefined
  /** pino-http: the level of a finished request, in place of `customLogLevel`. */
  useLevel?: LevelWithSilent | undefined
  /** pino-http: returns the level of a finished request. `ingestOptions()` sets it. */
  customLogLevel?(request: IncomingMessage, response: ServerResponse, error?: Error): LevelWithSilent
  /** pino-http: `false` logs no requests. */
  autoLogging?:
    | boolean
    | {
        /** `true`: the request is not logged. */
        ignore?(request: IncomingMessage): boolean
      }
    | undefined
  /** pino-http: returns the id of a request. */
  genReqId?(request: IncomingMessage, response: ServerResponse): number | string | object
  /** pino-http: returns the message for a request that was received. */
  customReceivedMessage?(request: IncomingMessage, response: ServerResponse): string
  /** pino-http: returns the message for a finished request. */
  customSuccessMessage?(request: IncomingMessage, response: ServerResponse, responseTime: number): string
  /** pino-http: returns the message for a failed request. */
  customErrorMessage?(request: IncomingMessage, response: ServerResponse, error: Error): string
  /** pino-http: returns the record for a request that was received. */
  customReceivedObject?(request: IncomingMessage, response: ServerResponse, fields?: object): object
  /** pino-http: returns the record for a finished request. */
  customSuccessObject?(request: IncomingMessage, response: ServerResponse, fields: object): object
  /** pino-http: returns the record for a failed request. */
  customErrorObject?(request: IncomingMessage, response: ServerResponse, error: Error, fields: object): object
  /** pino-http: returns fields for each record of a request. */
  customProps?(request: IncomingMessage, response: ServerResponse): object
  /** Also passed to the transport. */
  customAttributeKeys?:
    | { [attribute in 'req' | 'res' | 'err' | 'reqId' | 'responseTime']?: string | undefined }
    | undefined
  /** pino-http: `false` passes Node's own objects to custom serializers. */
  wrapSerializers?: boolean | undefined
  /** pino-http: `true` binds only the id of the request to `req.log`. */
  quietReqLogger?: boolean | undefined
  /** pino-http: `true` binds only the id of the request to `res.log`. */
  quietResLogger?: boolean | undefined
}

const CLIENT_ERROR = 400
const SERVER_ERROR = 500

interface LoggedResponse {
  readonly statusCode?: unknown
  readonly err?: unknown
  readonly log?: Partial<Logger> | undefined
}

/**
 * pino-http's `customLogLevel`, called as `(request, response, error)`, by version 6 as `(response, error)`. `error` is
 * a stream error; Express' error handlers set `response.err`. With `requestScope()`, an error that was logged already is not an error again.
 */
export function findResponseLevel(...given: readonly unknown[]): Level {
  // A request that a server receives has the status null.
  const [response, error] = (
    typeof (given[0] as LoggedResponse | undefined)?.statusCode === 'number' ? given : given.slice(1)
  ) as [LoggedResponse?, unknown?]
  const status = Number(response?.statusCode)
  if (isGiven(error) || status >= SERVER_ERROR)
    return nameOfLevel(isLogged(response, error) ? 'warn' : 'error', response?.log)
  if (status >= CLIENT_ERROR) return nameOfLevel('warn', response?.log)
  return nameOfLevel(isGiven(response?.err) ? 'error' : 'info', response?.log)
}

function isLogged(response: LoggedResponse | undefined, error: unknown): boolean {
  const request = response && findResponseScope(response)?.history.request
  if (request === undefined) return false
  return request.errors.get(error ?? response?.err)?.isLogged === true
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The logger's own name for the level: it may have custom levels only, and pino-http calls the method of that name. */
function nameOfLevel(level: Level, log: Partial<Logger> | undefined): Level {
  const levels = log?.levels
  if (levels === undefined || level in levels.values) return level
  const isSame = (name: string): boolean => resolveLevel(name, levels.labels)?.level === level
  return (Object.keys(levels.values).find(isSame) as Level | undefined) ?? level
}
