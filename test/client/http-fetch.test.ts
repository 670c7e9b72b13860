/** The arguments passed to the `fetch` of Bun. The matrix tests run a real Bun. */
import { afterEach, expect, test, vi } from 'vitest'
import { fetchPost } from '../../src/client/http-fetch.js'
import type { FetchPost } from '../../src/client/http-fetch.js'

async function asked(more: Partial<FetchPost>): Promise<Record<string, unknown>> {
  const fetched = vi.fn((_url: string, _init: Record<string, unknown>) =>
    Promise.resolve(new Response('{}', { status: 200 })),
  )
  vi.stubGlobal('fetch', fetched)
  await fetchPost('http://127.0.0.1:4319/api/v1/ingest', {
    body: '{}',
    headers: {},
    signal: new AbortController().signal,
    maxReplyBytes: 1024,
    ...more,
  })
  return fetched.mock.calls[0]?.[1] ?? {}
}

afterEach(() => void vi.unstubAllGlobals())

test.each<[string, Partial<FetchPost>, string, unknown]>([
  ['disables the proxy that the runtime would read from the environment', { proxy: false }, 'proxy', false],
  ['passes a proxy set in code', { proxy: 'http://proxy.example:3128' }, 'proxy', 'http://proxy.example:3128'],
  ['does not follow a redirect', {}, 'redirect', 'manual'],
])('%s', async (_, options, name, value) => expect(await asked(options)).toHaveProperty(name, value))
