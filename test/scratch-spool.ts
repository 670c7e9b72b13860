/** Every test file has a spool of its own: what one leaves must not be sent by another. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-test-'))
process.env['PINO_INGEST_SPOOL_DIR'] = dir

afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
