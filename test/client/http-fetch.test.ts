/** The arguments passed to the `fetch` of Bun. The matrix tests run a real Bun. */
import { afterEach, describe, expect, test, vi } from 'vitest'
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

describe('the arguments of fetch', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test('disables the proxy that the runtime would read from the environment', async () => {
    expect(await asked({ proxy: false })).toHaveProperty('proxy', false)
  })

  test('passes a proxy set in code', async () => {
    expect(await asked({ proxy: 'http://proxy.example:3128' })).toHaveProperty('proxy', 'http://proxy.example:3128')
  })

  test('does not follow a redirect', async () => {
    expect(await asked({})).toHaveProperty('redirect', 'manual')
  })
})
