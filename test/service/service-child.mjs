/**
 * Runs the built service in its own process, for tests that measure or kill it. The first argument has the options. Reports its
 * address, and replies to `memory` with its peak resident memory in bytes.
 */
import { createIngestService } from 'pino-ingest/service'

const service = await createIngestService(JSON.parse(process.argv[2] ?? '{}'))
const { url, origin, port, token } = service
process.on('message', (asked) => {
  if (asked === 'memory')
    process.send({
      peakBytes: process.resourceUsage().maxRSS * 1024,
      bytes: process.memoryUsage.rss(),
      requests: service.requests.length,
    })
})
process.once('disconnect', () => process.exit())
process.send({ url, origin, port, token })
