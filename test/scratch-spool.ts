/**
 * Every test file has its own spool, so no file sends entries that another one left. Removes the variables of the
 * machine that add metadata to entries.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-test-'))
process.env['PINO_INGEST_SPOOL_DIR'] = dir
for (const name of Object.keys(process.env)) if (/^(?:OTEL|K8S|KUBERNETES)_/.test(name)) delete process.env[name]

afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
