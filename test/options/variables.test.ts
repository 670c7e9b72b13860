/** Each variable sets its option, or its member of a group. A variable without an example here fails. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SECRET_KEYS } from '../../src/options/kinds.js'
import { findVariables } from '../../src/options/option-group.js'
import { OPTION_TABLE, listPaths } from '../../src/options/option-table.js'
import type { OptionName } from '../../src/options/option-table.js'
import { Secret } from '../../src/options/secret.js'
import { resolve } from './resolve.js'

const URL = 'https://logs.example.com/api/v1'
const pem = (name: string): string =>
  readFileSync(fileURLToPath(new globalThis.URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8')
/** The seed of a user that does not exist. */
const SEED_FILE = `SU${'A'.repeat(56)}\n`
const FILES = {
  '/key': 'key-from-file',
  '/ca': pem('ca.crt'),
  '/cert': pem('client.crt'),
  '/cert-key': pem('client.key'),
  '/seed': SEED_FILE,
}
const NATS = { PINO_INGEST_NATS_SERVERS: 'tls://nats.example.com' }
const NATS_CERTIFICATE = {
  ...NATS,
  PINO_INGEST_NATS_TLS_CERT_FILE: '/cert',
  PINO_INGEST_NATS_TLS_KEY_FILE: '/cert-key',
}
const CERTIFICATE = { PINO_INGEST_TLS_CERT_FILE: '/cert', PINO_INGEST_TLS_KEY_FILE: '/cert-key' }

/** The text of a variable, the resulting value of the option, and other variables that it requires. */
const EXAMPLES: Readonly<Record<string, readonly [text: string, value: unknown, others?: Record<string, string>]>> = {
  PINO_INGEST_ENABLED: ['false', false],
  PINO_INGEST_URL: ['https://other.example.com/api/v1', 'https://other.example.com/api/v1'],
  PINO_INGEST_API_KEY: ['another-key', 'another-key'],
  PINO_INGEST_API_KEY_FILE: ['/key', 'key-from-file', { PINO_INGEST_API_KEY: '' }],
  PINO_INGEST_ALLOW_INSECURE: ['true', true],
  PINO_INGEST_TLS_CA_FILE: ['/ca', FILES['/ca']],
  PINO_INGEST_TLS_CERT_FILE: ['/cert', FILES['/cert'], CERTIFICATE],
  PINO_INGEST_TLS_KEY_FILE: ['/cert-key', FILES['/cert-key'], CERTIFICATE],
  PINO_INGEST_NATS_SERVERS: [
    'tls://n1.example.com, n2.example.com:5222',
    ['n1.example.com:4222', 'n2.example.com:5222'],
  ],
  PINO_INGEST_NATS_CREDENTIALS_FILE: ['/seed', SEED_FILE.trim(), NATS],
  PINO_INGEST_NATS_TLS_CA_FILE: ['/ca', FILES['/ca'], NATS],
  PINO_INGEST_NATS_TLS_CERT_FILE: ['/cert', FILES['/cert'], NATS_CERTIFICATE],
  PINO_INGEST_NATS_TLS_KEY_FILE: ['/cert-key', FILES['/cert-key'], NATS_CERTIFICATE],
  PINO_INGEST_NATS_STREAM: ['LOGS', 'LOGS', NATS],
  PINO_INGEST_PROXY: ['http://proxy.example:3128', 'http://proxy.example:3128'],
  PINO_INGEST_HEADERS: ['{"X-Tenant":"shop"}', { 'x-tenant': 'shop' }],
  PINO_INGEST_SERVICE: ['shop', 'shop'],
  OTEL_SERVICE_NAME: ['shop', 'shop'],
  PINO_INGEST_ENVIRONMENT: ['staging', 'staging'],
  PINO_INGEST_VERSION: ['1.4.0', '1.4.0'],
  PINO_INGEST_TAGS: ['a, b', ['a', 'b']],
  PINO_INGEST_METADATA: ['{"region":"eu"}', { region: 'eu' }],
  PINO_INGEST_DEPLOY: ['{"commit":"abc"}', { commit: 'abc' }],
  PINO_INGEST_DEPLOY_COMMIT: ['abc', 'abc'],
  PINO_INGEST_DEPLOY_BRANCH: ['main', 'main'],
  PINO_INGEST_DEPLOY_DEPLOYED_BY: ['jane', 'jane'],
  PINO_INGEST_RELEASE_ID: ['rel_1', 'rel_1'],
  PINO_INGEST_REGISTER_RELEASE: ['true', true],
  PINO_INGEST_SEND_LEVEL: ['warn', 'warn'],
  PINO_INGEST_SAMPLE: ['{"debug":0.5}', { debug: 0.5 }],
  PINO_INGEST_SAMPLE_DEBUG: ['0.1', 0.1],
  PINO_INGEST_SAMPLE_INFO: ['.2', 0.2],
  PINO_INGEST_SAMPLE_WARN: ['0.3', 0.3],
  PINO_INGEST_SAMPLE_ERROR: ['0', 0],
  PINO_INGEST_SAMPLE_FATAL: ['1', 1],
  PINO_INGEST_DEDUPE_WINDOW_MS: ['5', 5],
  PINO_INGEST_BREADCRUMBS: ['false', false],
  PINO_INGEST_BREADCRUMBS_LIMIT: ['5', 5],
  PINO_INGEST_BREADCRUMBS_LEVEL: ['warn', 'warn'],
  PINO_INGEST_REQUEST_LOGS: ['only', { enabled: true, only: true }],
  PINO_INGEST_REQUEST_LOGS_ONLY: ['true', true],
  PINO_INGEST_REQUEST_LOGS_IGNORE: ['/health, /internal/*', ['/health', '/internal/*']],
  PINO_INGEST_FINGERPRINT: ['true', true],
  PINO_INGEST_BEFORE_SEND: ['./hook.mjs', './hook.mjs'],
  PINO_INGEST_SCRUB: ['{"patterns":["email"]}', { patterns: ['email'] }],
  PINO_INGEST_SCRUB_PATTERNS: ['email,ssn', ['email', 'ssn']],
  PINO_INGEST_SCRUB_KEYS: ['pin,card-number', [...SECRET_KEYS, 'pin', 'card-number']],
  PINO_INGEST_MAX_ENTRY_BYTES: ['2048', 2_048],
  PINO_INGEST_BATCH: ['{"size":5}', { size: 5, intervalMs: 1_000 }],
  PINO_INGEST_BATCH_SIZE: ['5', 5],
  PINO_INGEST_BATCH_INTERVAL_MS: ['5', 5],
  PINO_INGEST_MAX_CONCURRENCY: ['5', 5],
  PINO_INGEST_REQUEST_TIMEOUT_MS: ['500', 500],
  PINO_INGEST_RETRY: ['{"maxMs":5}', { maxMs: 5 }],
  PINO_INGEST_RETRY_MAX_MS: ['5000', 5_000],
  PINO_INGEST_SHUTDOWN_TIMEOUT_MS: ['5', 5],
  PINO_INGEST_LOG_TO: ['silent', 'silent'],
  PINO_INGEST_SPOOL: ['{"dir":"/spool","maxAgeMs":5000}', { dir: '/spool', maxAgeMs: 5_000 }],
  PINO_INGEST_SPOOL_DIR: ['/spool', '/spool'],
  PINO_INGEST_SPOOL_MAX_BYTES: ['1048577', 1_048_577],
  PINO_INGEST_SPOOL_MAX_AGE_MS: ['5000', 5_000],
  PINO_INGEST_SPOOL_DURABILITY: ['power', 'power', { PINO_INGEST_SPOOL_DIR: '/spool' }],
  PINO_INGEST_MAX_BUFFER_BYTES: ['1048577', 1_048_577],
  PINO_INGEST_PREVIOUS_API_KEYS: ['old-key-1,old-key-2', ['old-key-1', 'old-key-2']],
  PINO_INGEST_PINO: ['{"nestedKey":"payload"}', { nestedKey: 'payload' }],
}

const PATHS = (Object.keys(OPTION_TABLE) as OptionName[]).flatMap(listPaths)

// Members without a variable are set by that of their group.
test.each(PATHS.filter(({ path, row }) => findVariables(row, path).length > 0))('$path', ({ path, row }) => {
  const variables = findVariables(row, path)
  for (const variable of variables) {
    const [text, value, others = {}] = EXAMPLES[variable] ?? expect.unreachable(`there is no example for ${variable}`)
    const env: Record<string, string> = { PINO_INGEST_URL: URL, PINO_INGEST_API_KEY: 'key-4711', ...others }
    const found = valueAt(path, { ...env, [variable]: text })
    if (typeof value === 'object' && !Array.isArray(value)) expect(found).toMatchObject(value as object)
    else expect(found).toEqual(value)
    if (!(variable in others) && path !== 'apiKey')
      expect(found, 'the example is the default').not.toEqual(valueAt(path, env))
  }
})

function valueAt(path: string, env: Record<string, string>): unknown {
  const settings = resolve({}, env, FILES)
  return revealed(
    path
      .split('.')
      .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name], settings),
  )
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revealed(one)]))
}
