/** The instructions of an empty page. */
import { expect, test } from 'vitest'
import { connectLines, startLine } from '../../../../src/service/viewer/shell/connect-lines.js'

const usual = { url: 'http://127.0.0.1:4318/api/v1', is_default_url: true }
const own = { url: 'http://127.0.0.1:4320/api/v1', is_default_url: false }

test('five lines, with an address only where the default does not lead here', () => {
  for (const address of [usual, own])
    expect(
      connectLines(address)
        .split('\n')
        .filter((line) => line !== ''),
    ).toHaveLength(5)
  expect(connectLines(usual)).not.toContain('url')
  expect(connectLines(own)).toContain(`{ url: '${own.url}', apiKey: 'any', service: 'checkout' }`)
})

test('an application that has the transport is started as it is, or with the address', () => {
  expect(startLine(usual)).toBe('node app.mjs')
  expect(startLine(own)).toBe('PINO_INGEST_URL=http://127.0.0.1:4320/api/v1 PINO_INGEST_API_KEY=any node app.mjs')
})
