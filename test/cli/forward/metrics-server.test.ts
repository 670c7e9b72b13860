/** Parsing of the address of `--metrics`. */
import { expect, test } from 'vitest'
import { parseMetricsAddress } from '../../../src/cli/forward/metrics-server.js'

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
