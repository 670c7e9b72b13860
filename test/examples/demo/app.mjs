/**
 * The application, a process of its own: two services that log through one pino, in whose worker the transport runs.
 * Address and key of the log service come from the environment, PINO_INGEST_URL and PINO_INGEST_API_KEY.
 */
import { once } from 'node:events'
import pino from 'pino'
import { createInventory } from './inventory.mjs'
import { createShop } from './shop.mjs'

Error.stackTraceLimit = 3 // so that an entry printed in full stays readable

let logged = 0
const logger = pino({
  level: 'debug',
  customLevels: { audit: 35 },
  transport: { target: 'pino-ingest', options: { level: 'debug', environment: 'demo', version: '2.7.0' } },
  // Counts what pino writes, for the comparison with what arrives.
  hooks: { streamWrite: (line) => { logged += 1; return line } },
})

const inventory = createInventory(logger.child({ service: 'inventory' }))
const inventoryUrl = await inventory.listen({ host: '127.0.0.1', port: 0 })
const shop = createShop(logger.child({ service: 'shop' }), inventoryUrl)
await once(shop.listen(0, '127.0.0.1'), 'listening')
process.send({ shopUrl: `http://127.0.0.1:${shop.address().port}`, inventoryUrl })

await once(process, 'message') // the day is over
const closed = once(shop, 'close')
shop.close()
shop.closeIdleConnections()
await Promise.all([closed, inventory.close()])
settle(logger.child({ service: 'shop', action: 'settlement' }))
process.send({ logged })
process.disconnect() // nothing is left to do: the process ends, and the transport delivers what it still holds

function settle(log) {
  log.info({ openPayments: 2 }, 'settling the day')
  log.fatal({ differenceCents: 1, notify: true, notify_channels: ['on-call'] }, 'settlement stopped: the books do not balance')
}
