/** Compiled, never run: the client by itself. */
import { expectTypeOf } from 'expect-type'
import { IngestClient, IngestError } from 'pino-ingest/client'
import type { IngestClientOptions, IngestResult, Level, LogEntry } from 'pino-ingest/client'

export async function calls(): Promise<void> {
  const options: IngestClientOptions = {
    url: undefined,
    apiKey: 'key',
    maxAttempts: 2,
    requestTimeoutMs: 500,
    proxy: false,
  }
  const client = new IngestClient(options)
  const entry: LogEntry = {
    level: 'info',
    message: 'm',
    timestamp: new Date().toISOString(),
    metadata: { a: [1, { b: null }] },
  }
  const result = await client.ingest({ logs: [entry] }, { signal: new AbortController().signal })
  expectTypeOf(result).toEqualTypeOf<IngestResult>()
  expectTypeOf(result.errors).items.toEqualTypeOf<{ index: number; code: string; field: string; message: string }>()
  await client.ingest({
    batch_id: undefined,
    logs: [{ level: 'warn', message: 'm', timestamp: '2026-01-01T00:00:00Z' }],
  })
  await client.ingestRequests([
    { method: 'GET', path: '/', status_code: 200, duration_ms: 1, request_id: 'r', timestamp: '2026-01-01T00:00:00Z' },
  ])
  expectTypeOf(await client.registerRelease({ version: '1' })).toEqualTypeOf<{ release_id: string }>()
  expectTypeOf(client.sendFeedback({ event_id: 'e', comments: 'c' })).resolves.toEqualTypeOf<{ attached?: boolean }>()
  expectTypeOf(client.heartbeat('token')).resolves.toEqualTypeOf<void>()
  expectTypeOf(client.close()).resolves.toEqualTypeOf<void>()
  expectTypeOf<Level>().toEqualTypeOf<'debug' | 'info' | 'warn' | 'error' | 'fatal'>()
  // @ts-expect-error an option of the transport alone
  void new IngestClient({ spool: false })
  // @ts-expect-error the service has no level trace
  await client.ingest({ logs: [{ level: 'trace', message: 'm', timestamp: '' }] })
  const request = { method: 'GET', path: '/', duration_ms: 1, request_id: 'r', timestamp: '' } as const
  // @ts-expect-error a status is a number
  await client.ingestRequests([{ ...request, status_code: '200' }])
  await client.ingest({
    logs: [{ ...entry, error: new Error('x'), metadata: { when: new Map([['a', new Date()]]), err: new Error('x') } }],
  })
  // @ts-expect-error metadata are an object
  await client.ingest({ logs: [{ ...entry, metadata: 'text' }] })
  const error: Error = new IngestError('INVALID', 'm', { status: 400, cause: new Error('c') })
  throw error
}
