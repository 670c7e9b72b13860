/**
 * The built service as a process of its own, which tests measure or kill. It listens with the options in its first
 * argument, says where, and answers `memory` with the most bytes it ever had resident.
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
