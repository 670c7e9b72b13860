/** The key is sent only to the configured origin, even if that origin redirects. */
import { onTestFinished, expect, test } from 'vitest'
import { IngestClient } from '../../src/client/index.js'
import type { IngestError } from '../../src/client/index.js'
import { createIngestService } from '../../src/service/index.js'
import { failureOf } from './failure-of.js'
import { httpServer } from './http-servers.js'

const KEY = 'canary-key-4711'
const TOKEN = 'secret-token-0815'
const TIME = '2026-01-31T08:00:00.000Z'

const CALLS: readonly [string, (client: IngestClient) => Promise<unknown>][] = [
  ['ingest', (client) => client.ingest({ logs: [{ level: 'info', message: 'm', timestamp: TIME }] })],
  [
    'ingestRequests',
    (client) =>
      client.ingestRequests([
        { method: 'GET', path: '/', status_code: 200, duration_ms: 1, request_id: 'r', timestamp: TIME },
      ]),
  ],
  ['sendFeedback', (client) => client.sendFeedback({ event_id: 'e', comments: 'c' })],
  ['registerRelease', (client) => client.registerRelease({ version: '1' })],
  ['heartbeat', (client) => client.heartbeat(TOKEN)],
]

test.each(CALLS.flatMap(([name, call]) => ([301, 307] as const).map((status) => [name, status, call] as const)))(
  '%s answered by %i: no connection to the other origin',
  async (_, status, call) => {
    const other = await httpServer()
    const service = await createIngestService({ apiKeys: [KEY] })
    const client = new IngestClient({ url: service.url, apiKey: KEY })
    onTestFinished(async () => {
      await client.close()
      await service.close()
    })
    service.faults.add({ kind: 'redirect', location: `${other.origin}/api/v1/ingest`, status })
    expect(await failureOf<IngestError>(call(client), KEY, TOKEN)).toMatchObject({ code: 'MISDIRECTED', status })
    expect([service.requests.length, other.connections()]).toEqual([1, 0])
  },
)
