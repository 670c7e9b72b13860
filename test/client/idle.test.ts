/** Connections that were idle for long are not used again, also where the process or the whole machine was stopped meanwhile. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Http } from '../../src/client/http-types.js'
import { httpServer, httpTo } from './servers.js'
import type { TestServer } from './servers.js'

afterEach(() => void vi.restoreAllMocks())

async function connectionsAfter(server: TestServer, http: Http): Promise<number> {
  await http.post('/ingest', '{}')
  // A connection is free in the turn after its reply.
  await new Promise((resolve) => void setTimeout(resolve, 20))
  return server.connections()
}

test.each(['the wall\'s clock', 'the clock that never jumps'])('by %s', async (which) => {
  const server = await httpServer()
  const http = httpTo(server.origin)
  expect([await connectionsAfter(server, http), await connectionsAfter(server, http)]).toEqual([1, 1])
  const [clock, real] = which === 'the wall\'s clock' ? [Date, Date.now] : [performance, performance.now.bind(performance)]
  vi.spyOn(clock as Pick<typeof Date, 'now'>, 'now').mockImplementation(() => real() + 4_001)
  expect([await connectionsAfter(server, http), await connectionsAfter(server, http)]).toEqual([2, 2])
  expect(server.openSockets.size).toBe(1)
})
