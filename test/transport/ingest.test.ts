/** The default export in the application's own thread: the stream of `pino(ingest(options))`. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import ingest from '../../src/index.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'

let service: IngestService
beforeEach(async () => {
  service = await createIngestService()
})
afterEach(() => service.close())

test('sends lines written before destroy() in the same tick', async () => {
  const stream = ingest({ url: service.url, apiKey: 'any', spool: false, logTo: 'silent' })
  for (let n = 0; n < 50; n += 1) stream.write(`{"level":30,"time":1,"msg":"${n}"}\n`)
  stream.destroy()
  const stored = await service.waitForEntries(50)
  expect(stored.map(({ entry }) => Number(entry.message)).toSorted((a, b) => a - b)).toEqual([...Array(50).keys()])
})
