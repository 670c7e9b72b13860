/** The instructions on an empty page. */
import { expect, test } from 'vitest'
import { formatConnectLines, formatStartLine } from '../../../../src/service/viewer/shell/connect-lines.js'

const usual = { url: 'http://127.0.0.1:4318/api/v1', is_default_url: true }
const own = { url: 'http://127.0.0.1:4320/api/v1', is_default_url: false }

test('five lines; the URL is included only if it is not the default', () => {
  for (const address of [usual, own])
    expect(
      formatConnectLines(address)
        .split('\n')
        .filter((line) => line !== ''),
    ).toHaveLength(5)
  expect(formatConnectLines(usual)).not.toContain('url')
  expect(formatConnectLines(own)).toContain(`{ url: '${own.url}', apiKey: 'any', service: 'checkout' }`)
})

test('the start command of an application that uses the transport', () => {
  expect(formatStartLine(usual)).toBe('node app.mjs')
  expect(formatStartLine(own)).toBe('PINO_INGEST_URL=http://127.0.0.1:4320/api/v1 PINO_INGEST_API_KEY=any node app.mjs')
})
