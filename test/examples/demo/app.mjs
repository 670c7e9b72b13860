/**
 * The application, a separate process with two services. They log through one pino, and the transport runs in its worker.
 * PINO_INGEST_URL and PINO_INGEST_API_KEY set the URL and key of the log service.
 */
import { once } from 'node:events'
import pino from 'pino'
import { ingestOptions } from 'pino-ingest'
import { createInventory } from './inventory.mjs'
import { startJobs } from './jobs.mjs'
import { registerReleases, VERSION } from './releases.mjs'
import { createShop } from './shop.mjs'

Error.stackTraceLimit = 3 // keeps printed entries readable
process.on('SIGINT', () => {}) // the demo handles Ctrl-C and ends this process by a message

let logged = 0
const logger = pino(
  ingestOptions({
    level: 'debug',
    customLevels: { audit: 35 },
    transport: {
      target: 'pino-ingest',
      options: { sendLevel: 'debug', environment: 'demo', version: VERSION, requestLogs: true },
    },
    // Counts the lines that pino writes, to compare them with the stored entries.
    hooks: {
      streamWrite: (line) => {
        logged += 1
        return line
      },
    },
  }),
)

await registerReleases(logger)
const inventory = createInventory(logger.child({ service: 'inventory' }))
const inventoryUrl = await inventory.listen({ host: '127.0.0.1', port: 0 })
const shop = createShop(logger.child({ service: 'shop' }), inventoryUrl)
await once(shop.listen(0, '127.0.0.1'), 'listening')
const stopJobs = await startJobs(logger.child({ service: 'shop' }), inventory)
process.send({ shopUrl: `http://127.0.0.1:${shop.address().port}`, inventoryUrl })

// The day has ended, or the demo has exited.
await Promise.race([once(process, 'message'), once(process, 'disconnect')])
const closed = once(shop, 'close')
shop.close()
shop.closeIdleConnections()
await Promise.all([closed, stopJobs()])
await inventory.close()
settle(logger.child({ service: 'shop', action: 'settlement' }))
if (process.connected) {
  process.send({ logged })
  process.disconnect()
} // the process exits, and the transport delivers its pending entries

function settle(log) {
  log.info({ openPayments: 2 }, 'settling the day')
  log.fatal(
    { differenceCents: 1, notify: true, notify_channels: ['on-call'] },
    'settlement stopped: the books do not balance',
  )
}
