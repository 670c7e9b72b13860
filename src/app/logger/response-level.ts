/** [main] The level at which pino-http logs a request, and pino-http's options. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DestinationStream, Level, LevelWithSilent, Logger } from 'pino'

/** Options of pino-http, which are passed on. Declared here, so that these types do not need that package. */
export interface HttpLoggerOptions {
  logger?: Logger | undefined
  stream?: DestinationStream | undefined
  useLevel?: LevelWithSilent | undefined
  customLogLevel?(request: IncomingMessage, response: ServerResponse, error?: Error): LevelWithSilent
  autoLogging?: boolean | { ignore?(request: IncomingMessage): boolean } | undefined
  genReqId?(request: IncomingMessage, response: ServerResponse): number | string | object
  customReceivedMessage?(request: IncomingMessage, response: ServerResponse): string
  customSuccessMessage?(request: IncomingMessage, response: ServerResponse, responseTime: number): string
  customErrorMessage?(request: IncomingMessage, response: ServerResponse, error: Error): string
  customReceivedObject?(request: IncomingMessage, response: ServerResponse, fields?: object): object
  customSuccessObject?(request: IncomingMessage, response: ServerResponse, fields: object): object
  customErrorObject?(request: IncomingMessage, response: ServerResponse, error: Error, fields: object): object
  customProps?(request: IncomingMessage, response: ServerResponse): object
  /** Also passed to the transport as its option `requestLogs.keys`. */
  customAttributeKeys?:
    | { [attribute in 'req' | 'res' | 'err' | 'reqId' | 'responseTime']?: string | undefined }
    | undefined
  wrapSerializers?: boolean | undefined
  quietReqLogger?: boolean | undefined
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
