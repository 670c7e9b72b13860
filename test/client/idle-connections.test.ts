/** Connections that were idle for long are not reused, even if the process or the machine was suspended meanwhile. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Http } from '../../src/client/http-types.js'
import { systemClock } from '../../src/shared/clock.js'
import { httpServer, httpTo } from './http-servers.js'
import type { TestServer } from './http-servers.js'

afterEach(() => void vi.restoreAllMocks())

async function connectionsAfter(server: TestServer, http: Http): Promise<number> {
  await http.post('/ingest', '{}')
  // A connection is free in the tick after its reply.
  await new Promise((resolve) => void setTimeout(resolve, 20))
  return server.connections()
}

test.each(['the wall clock', 'the monotonic clock'])('measured by %s', async (which) => {
  const server = await httpServer()
  const http = httpTo(server.origin)
  expect([await connectionsAfter(server, http), await connectionsAfter(server, http)]).toEqual([1, 1])
  const clock = which === 'the wall clock' ? 'wallNow' : 'now'
  const real = systemClock[clock]
  vi.spyOn(systemClock, clock).mockImplementation(() => real() + 4_001)
  expect([await connectionsAfter(server, http), await connectionsAfter(server, http)]).toEqual([2, 2])
  expect(server.openSockets.size).toBe(1)
})

test('with a request in flight meanwhile, which is still answered', async () => {
  const late: (() => void)[] = []
  const server = await httpServer((response, { url }) => {
    if (url.endsWith('/late')) late.push(() => response.end('{}'))
    else response.end('{}')
  })
  const http = httpTo(server.origin)
  const waiting = http.post('/late', '{}')
  expect(await connectionsAfter(server, http)).toBe(2)
  const real = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => real() + 4_001)
  // The next request does not use the idle connection; a later one reuses the new connection.
  expect([await connectionsAfter(server, http), await connectionsAfter(server, http)]).toEqual([3, 3])
  for (const answer of late) answer()
  expect((await waiting).status).toBe(200)
  await vi.waitFor(() => expect(server.openSockets.size).toBe(1), { timeout: 10_000 })
})
