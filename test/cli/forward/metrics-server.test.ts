/** The server of `--metrics`, and its address. */
import { expect, onTestFinished, test } from 'vitest'
import { parseMetricsAddress, startMetricsServer } from '../../../src/cli/forward/metrics-server.js'

test.each([
  ['9464', '127.0.0.1', 9464],
  [':9464', '127.0.0.1', 9464],
  ['0.0.0.0:9464', '0.0.0.0', 9464],
  ['[::1]:0', '::1', 0],
  ['metrics.internal:1', 'metrics.internal', 1],
])('%s', (text, host, port) => {
  expect(parseMetricsAddress(text)).toEqual({ host, port })
})

test.each(['', 'localhost', '127.0.0.1:', '127.0.0.1:65536', '[nonsense]:1', 'http://x:1', '::1:1'])(
  '%j is refused',
  (text) => {
    expect(() => parseMetricsAddress(text)).toThrow(expect.objectContaining({ code: 'USAGE' }))
  },
)

test('serves the current metrics and health, and reports a port in use', async () => {
  const forwarder = { metrics: 'a 1\n', health: { ready: false, lag: 3, oldestUnsentMs: null, lastError: 'x' } }
  const { url, close } = await startMetricsServer({ host: '127.0.0.1', port: 0 }, forwarder)
  onTestFinished(close)
  const get = async (path: string): Promise<readonly [number, string]> => {
    const response = await fetch(`${url}${path}`)
    return [response.status, await response.text()]
  }
  expect(await get('/metrics?x')).toEqual([200, 'a 1\n'])
  expect((await get('/livez'))[0]).toBe(200)
  expect((await get('/toString'))[0]).toBe(404)
  expect(await get('/healthz')).toEqual([503, `${JSON.stringify(forwarder.health)}\n`])
  forwarder.health.ready = true
  expect((await get('/healthz'))[0]).toBe(200)
  const port = Number(new URL(url).port)
  await expect(startMetricsServer({ host: '127.0.0.1', port }, forwarder)).rejects.toMatchObject({ code: 'LISTEN' })
})
