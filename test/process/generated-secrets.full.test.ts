/** Generated secrets in log calls and lines, in every way: none is in the entries, the request logs, on stderr or on disk. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { runCli } from '../cli/run-cli.js'
import { findTokens, generateSecrets } from '../redaction/generated-secrets.js'
import { contentsBelow, runApp } from './run-app.js'

const KEY = 'generated-key-3b7f'
const SEED = Number(process.env['SECRETS_SEED'] ?? 1)
const COUNT = Number(process.env['SECRETS_COUNT'] ?? 1_000)

const secrets = [...generateSecrets(SEED, COUNT)].filter(({ promised }) => promised)
const kinds = new Map(secrets.flatMap(({ token, kind }) => findTokens(token).map((found) => [found, kind])))
const records: string[] = []
const logger = pino({ level: 'trace' }, { write: (line: string) => void records.push(line) })
for (const [index, { log = [] }] of secrets.entries())
  if (log.length > 0) logger[index % 2 === 0 ? 'error' : 'info'](...(log as [string]))
const lines = [...records, ...secrets.flatMap(({ text }) => (text === undefined ? [] : `${text}\n`))]

test('the lines contain the secrets', () => {
  expect(new Set(findTokens(lines.join(''))).size).toBeGreaterThan(COUNT * 0.7)
})

test.each(['target', 'stream', 'pipe', 'send'] as const)('%s', async (way) => {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-generated-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const service = await createIngestService({ apiKeys: [KEY], maxStoreBytes: 1 << 30 })
  onTestFinished(() => service.close())
  service.faults.add({ kind: 'reject-every', nth: 50 })
  const input = join(folder, 'input.log')
  const isApp = way === 'target' || way === 'stream'
  writeFileSync(input, (isApp ? records : lines).join(''))
  const spool = join(folder, 'spool')
  const options = { url: service.url, apiKey: KEY, sendLevel: 'trace', requestLogs: true, spool: { dir: spool } }
  const env = {
    PINO_INGEST_URL: service.url,
    PINO_INGEST_API_KEY: KEY,
    PINO_INGEST_SEND_LEVEL: 'trace',
    PINO_INGEST_REQUEST_LOGS: 'true',
    PINO_INGEST_SPOOL_DIR: spool,
    PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '8000',
    XDG_STATE_HOME: spool,
  }
  const { stderr } = isApp
    ? await runApp({ mode: way, raw: input, options, end: 'flush-all', flushTimeoutMs: 60_000, holds: false })
    : await (way === 'pipe' ? runCli(['--quiet'], env, readFileSync(input)) : runCli(['send', input], env))
  const entries = service.entries({ limit: Infinity }).items
  const sent = JSON.stringify([entries, service.requestLogs({ limit: Infinity }).items])
  expect(entries.length).toBeGreaterThan(records.length * 0.9)
  const stored = contentsBelow(spool)
  expect(stored).toContain('"message"') // dead letters
  const leaked = findTokens(`${sent}\n${stored}\n${stderr}`).flatMap((token) => kinds.get(token) ?? [])
  expect(leaked).toEqual([])
  expect(sent + stored + stderr).not.toContain(KEY)
})
