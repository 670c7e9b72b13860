/** Variables with the package's prefix that nothing reads are named, with those that were probably meant. */
import { describe, expect, test } from 'vitest'
import { describeUnknownVariables, findUnknownVariables } from '../../src/options/known-variables.js'
import { problem, resolve } from './resolve.js'

test.each([
  ['PINO_INGEST_KEY', 'PINO_INGEST_API_KEY'],
  ['PINO_INGEST_APIKEY', 'PINO_INGEST_API_KEY'],
  ['PINO_INGEST_TOKEN', 'PINO_INGEST_API_KEY'],
  ['PINO_INGEST_HOST', 'PINO_INGEST_URL'],
  ['PINO_INGEST_ENDPOINT', 'PINO_INGEST_URL'],
  ['PINO_INGEST_SERVICE_NAME', 'PINO_INGEST_SERVICE'],
  ['PINO_INGEST_ENV', 'PINO_INGEST_ENVIRONMENT'],
  ['PINO_INGEST_BATCH_INTERVAL', 'PINO_INGEST_BATCH_INTERVAL_MS'],
  ['PINO_INGEST_RELEASE', 'PINO_INGEST_RELEASE_ID, PINO_INGEST_REGISTER_RELEASE'],
  ['PINO_INGEST_LEVEL', 'PINO_INGEST_SEND_LEVEL'],
  ['PINO_INGEST_DSN', 'PINO_INGEST_URL, PINO_INGEST_API_KEY'],
  ['PINO_INGEST_SPOOL_DIRR', 'PINO_INGEST_SPOOL_DIR'],
  ['PINO_INGEST_MONITOR_TOKN', 'PINO_INGEST_MONITOR_TOKEN'],
  ['PINO_INGEST_ZZZZZZZZZZ', undefined],
])('%s: %s was meant', (name, meant) => {
  const value = 'canary-key-5522'
  expect(findUnknownVariables({ [name]: value })).toEqual([{ name, ...(meant && { meant }) }])
  const text = String(describeUnknownVariables({ [name]: value }))
  expect(text).toContain(name)
  if (meant !== undefined) expect(text).toContain(meant)
  expect(text).not.toContain(value)
})

test('variables that any part of the package reads are known, and empty ones count as not set', () => {
  const known = [
    'URL',
    'API_KEY_FILE',
    'DEPLOY_COMMIT',
    'NATS_TLS_CA_FILE',
    'DEV_TOKEN',
    'MONITOR_TOKEN',
    'MONITOR_TOKEN_FILE',
  ]
  const env = Object.fromEntries(known.map((name) => [`PINO_INGEST_${name}`, 'x']))
  expect(findUnknownVariables({ ...env, PINO_INGEST_NONSENSE: '', NONSENSE: 'x' })).toEqual([])
})

test('variables that Kubernetes sets for a Service are not a mistake', () => {
  const env = { PINO_INGEST_SERVICE_HOST: '10.0.0.1', PINO_INGEST_PORT_4319_TCP_ADDR: '10.0.0.1' }
  expect(findUnknownVariables({ ...env, KUBERNETES_SERVICE_HOST: '10.0.0.2' })).toEqual([])
  expect(findUnknownVariables(env)).toHaveLength(2)
})

describe('the configuration', () => {
  test('has a warning if it is valid', () => {
    expect(resolve({}, { PINO_INGEST_HOST: 'x' }).variableWarning).toContain('PINO_INGEST_URL')
    expect(resolve({}, { PINO_INGEST_SERVICE: 'x' })).not.toHaveProperty('variableWarning')
  })

  test('names the variable in its error', () => {
    const text = problem({ url: 'https://logs.example.com/api/v1' }, { PINO_INGEST_KEY: 'canary-key-5522' })
    expect(text).toMatch(/apiKey is required.*PINO_INGEST_KEY.*PINO_INGEST_API_KEY/)
    expect(text).not.toContain('canary')
  })

  test("says once that options are a text, which pino's worker receives as characters", () => {
    expect(problem(Object.assign({}, 'canary-key-5522'))).toMatch(/options must be a plain object, got a text[^;]*$/)
  })
})
