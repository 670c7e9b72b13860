/** Starts a local service that accepts only the fixed key, and prints the records it stores. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIngestService } from 'pino-ingest/service'

await createIngestService({
  port: 4319,
  apiKeys: ['local'],
  token: readFileSync(join(process.env.XDG_STATE_HOME, 'pino-ingest', 'dev-token'), 'utf8').trim(),
  onRecords: (_, records) => process.stdout.write(`${JSON.stringify(records)}\n`),
})
process.stdout.write('it listens\n')
