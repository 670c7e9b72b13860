/**
 * Every test file has a spool of its own: what one leaves must not be sent by another. Variables that add metadata to entries are those of
 * the machine that runs the tests.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-test-'))
process.env['PINO_INGEST_SPOOL_DIR'] = dir
for (const name of Object.keys(process.env)) if (/^(?:OTEL|K8S|KUBERNETES)_/.test(name)) delete process.env[name]

afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
