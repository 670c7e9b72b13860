/** `ingestStream({ registerRelease: true })`: a registration without a reply does not keep a finished process alive for long. */
import { expect, test } from 'vitest'
import { httpServer } from '../client/http-servers.js'
import { runApp } from './run-app.js'

/** Time for the application's own end on a busy machine, well below `requestTimeoutMs`. */
const BOUND_MS = 15_000

test(
  'ends after 5 s, and the entries are sent',
  async () => {
    const server = await httpServer((response, { url }) => {
      if (url.endsWith('/ingest')) response.end('{"accepted":1,"rejected":0,"errors":[]}')
    })
    const options = {
      url: `${server.origin}/api/v1`,
      apiKey: 'exit-key-c0ffee',
      spool: false,
      registerRelease: true,
      version: '1.0.0',
      requestTimeoutMs: 60_000,
    }
    const { code, stderr } = await runApp({ mode: 'stream', options, count: 1, end: 'natural' })
    expect(code).toBe(0)
    expect(stderr).toContain('release')
    expect(server.came.map(({ url }) => url).toSorted()).toEqual(['/api/v1/ingest', '/api/v1/releases/register'])
  },
  BOUND_MS,
)
