/** pino-ingest as the benchmarks run it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const TARGET = fileURLToPath(new URL('../../dist/cjs/index.js', import.meta.url))
export const IDENTITY = { apiKey: 'bench', service: 'shop', environment: 'production', version: '1.0.0' }

/** A folder for the files of one run. */
export function scratchFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-bench-'))
  return { dir, clean: () => rmSync(dir, { recursive: true, force: true }) }
}
