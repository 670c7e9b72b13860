/** [main] The level at which pino-http logs a request, and pino-http's options. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DestinationStream, Level, LevelWithSilent, Logger } from 'pino'

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
  /** Also passed to the transport as its option `requestLogs.keys`. */
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

/** pino-http's `customLogLevel`. `error` is a stream error; Express' error handlers set `response.err`. */
export function levelOfResponse(_request: IncomingMessage, response: ServerResponse, error?: Error): Level {
  const { statusCode, err } = response as ServerResponse & { err?: unknown }
  if (error !== undefined || statusCode >= SERVER_ERROR) return 'error'
  if (statusCode >= CLIENT_ERROR) return 'warn'
  return err === undefined || err === null ? 'info' : 'error'
}
