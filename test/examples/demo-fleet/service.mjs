/**
 * The log service, a process of its own: it is taken down and up again, and counts what arrives across both.
 *
 * Arguments: the file of its entries, how many entries it keeps. It answers `down`, `up`, `arrived`, `inFlight` and `report`.
 */
import { createIngestService } from 'pino-ingest/service'

/** Of one reply; thereby requests overlap, as they do over a network. */
const LATENCY_MS = 30
/** A forwarder that had the reply for so long had acknowledged the batch. */
const RECENT_MS = 500

const [dbFile, maxEntries] = process.argv.slice(2)
/** How often each number has arrived. */
const arrivals = new Map()
/** Batches of which an entry had arrived before. */
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
// The same address again after an outage.
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
