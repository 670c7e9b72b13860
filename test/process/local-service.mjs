/** A local service of this user that takes the fixed key alone. Prints what it stores. */
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
