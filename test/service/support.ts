/** A simple HTTP client for tests: no retries, no redirects, no restricted headers. */
import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { createIngestService } from '../../src/service/index.js'
import type { RecordedRequest, IngestService, IngestServiceOptions, StoredEntry } from '../../src/service/index.js'
import { onTestFinished } from 'vitest'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- replies have every shape; expect() is what checks them
  readonly json: any
}

export interface Sent {
  readonly method?: string
  /** Path to send unchanged. Default: the normalized path of the URL. */
  readonly path?: string
  readonly headers?: Record<string, string>
  /** Text and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown
}

/** Sends a request. Rejects with the socket's error if there is no complete reply. */
export function call(url: string, { method = 'POST', path, headers = {}, body }: Sent = {}): Promise<Answer> {
  const bytes =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const type = bytes === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        agent: false,
        ...(path !== undefined && { path }),
        headers: { ...type, 'x-api-key': 'key-1', ...headers },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (text += part))
        response.on('error', reject)
        response.on('end', () => {
          const isJson = response.headers['content-type'] === 'application/json' && text !== ''
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson ? JSON.parse(text) : undefined,
          })
        })
      },
    )
    request.on('error', reject)
    request.end(bytes)
  })
}

/** Starts a service that is closed when the test ends. */
export async function started(options: IngestServiceOptions = {}): Promise<IngestService> {
  const service = await createIngestService(options)
  onTestFinished(() => service.close())
  return service
}

/** Returns the newest stored entry. */
export function newest(service: IngestService): StoredEntry {
  const [found] = service.entries({ limit: 1 }).items
  if (found === undefined) throw new Error('the service has no entry')
  return found
}

/** Duration from the head of a request to its reply; NaN while it is open. */
export function durationMs({ at, endedAt }: RecordedRequest): number {
  return (endedAt ?? Number.NaN) - at
}

export function entryOf(fields: Partial<LogEntry> = {}): LogEntry {
  return { level: 'info', message: 'hello', timestamp: '2026-01-31T08:00:00.000Z', ...fields }
}

export function ingest(
  service: IngestService,
  logs: readonly unknown[],
  batchId = 'batch-1',
  headers = {},
): Promise<Answer> {
  return call(`${service.url}/ingest`, { body: { batch_id: batchId, logs }, headers })
}

/** Sends a request to the local API with the token; `GET` by default. */
export function local(service: IngestService, path: string, { headers, ...sent }: Sent = {}): Promise<Answer> {
  const authorization = `Bearer ${service.token}`
  return call(`${service.origin}/local/${path}`, { method: 'GET', ...sent, headers: { authorization, ...headers } })
}

/** Resolves once `holds` returns true. */
export async function until(holds: () => boolean, timeoutMs = 5000): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!holds()) {
    if (performance.now() > end) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const requestLog = {
  method: 'GET',
  path: '/',
  status_code: 200,
  duration_ms: 1.5,
  request_id: 'r',
  timestamp: '2026-01-31T08:00:00Z',
}
