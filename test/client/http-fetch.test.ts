/** What the `fetch` of Bun is asked for; that Bun does it, the matrix shows with a real one. */
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

describe('what fetch is asked for', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test('no proxy is said, since the runtime would take the one of the environment', async () => {
    expect(await asked({ proxy: false })).toHaveProperty('proxy', false)
  })

  test('a proxy named in code is passed on', async () => {
    expect(await asked({ proxy: 'http://proxy.example:3128' })).toHaveProperty('proxy', 'http://proxy.example:3128')
  })

  test('with NO_PROXY beside it the choice is left to the runtime, which reads both', async () => {
    expect(await asked({ proxy: 'http://proxy.example:3128', noProxy: 'localhost' })).not.toHaveProperty('proxy')
  })

  test('a redirect is not followed', async () => {
    expect(await asked({})).toHaveProperty('redirect', 'manual')
  })
})
