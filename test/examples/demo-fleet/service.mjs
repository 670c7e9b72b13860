/**
 * The log service as a separate process. It can be stopped and restarted, and counts all arrivals.
 *
 * Arguments: the file of its entries, the limit of entries. It answers `down`, `up`, `arrived`, `inFlight` and `report`.
 */
import { createIngestService } from 'pino-ingest/service'

/** Delay of each reply: requests overlap, as over a network. */
const LATENCY_MS = 30
/** After this time a forwarder that received the reply has acknowledged the batch. */
const RECENT_MS = 500

const [dbFile, maxEntries] = process.argv.slice(2)
/** Arrivals by record number. */
const arrivals = new Map()
/** Batches with an entry that had already arrived. */
const twice = new Set()

const options = {
  dbFile,
  maxEntries: Number(maxEntries),
  maxStoreBytes: 1 << 30,
  latencyMs: LATENCY_MS,
  onRecords: (kind, records) => {
    if (kind !== 'entry') return
    for (const { entry, batch_id } of records) {
      const n = entry.metadata?.n
      const times = arrivals.get(n) ?? 0
      arrivals.set(n, times + 1)
      if (times > 0) twice.add(batch_id)
    }
  },
}
let service = await createIngestService(options)
// Uses the same address after an outage.
Object.assign(options, { port: service.port, token: service.token })

const answers = {
  async down() {
    await service.close()
  },
  async up() {
    service = await createIngestService(options)
  },
  arrived: () => arrivals.size,
  inFlight: () =>
    service.requests
      .filter(({ endedAt }) => endedAt === null || endedAt > performance.now() - RECENT_MS)
      .map(({ batchId }) => batchId),
  report: () => ({
    arrived: arrivals.size,
    copies: [...arrivals.values()].reduce((sum, times) => sum + times - 1, 0),
    twice: [...twice],
  }),
}
process.on('message', async (question) => process.send({ [question]: (await answers[question]()) ?? null }))
process.on('disconnect', () => process.exit())
process.send({ addresses: { url: service.url, pageUrl: service.pageUrl } })
