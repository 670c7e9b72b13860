/** `ingestStream({ release: true })`: a failing registration does not keep a finished process alive for long. */
import { expect, test } from 'vitest'
import { httpServer } from '../client/http-servers.js'
import { runApp } from './run-app.js'

/** Time for the application's own end on a busy machine, well below the 20 s and 30 s of the waits. */
const BOUND_MS = 15_000

test.each([
  ['answers with a Retry-After of 20 s', '20'],
  ['gets no reply', undefined],
])(
  'that %s',
  async (_, retryAfter) => {
    const server = await httpServer((response, { url }) => {
      if (!url.endsWith('/releases/register')) return void response.end('{"accepted":1,"rejected":0,"errors":[]}')
      if (retryAfter !== undefined) response.writeHead(429, { 'retry-after': retryAfter }).end('{}')
    })
    const options = {
      url: `${server.origin}/api/v1`,
      apiKey: 'exit-key-c0ffee',
      spool: false,
      release: true,
      version: '1.0.0',
    }
    const { code, stderr, events } = await runApp({ mode: 'stream', options, count: 1, end: 'natural' })
    expect(code).toBe(0)
    expect(stderr).toContain('release')
    const registered = server.came.filter(({ url }) => url.endsWith('/releases/register'))
    expect(registered).toHaveLength(1)
    expect(events.find(({ name }) => name === 'ending')).toBeDefined()
  },
  BOUND_MS,
)
