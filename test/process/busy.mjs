/**
 * An application under load, run as a real process. `PLAN` configures it. It ends by itself and reports the account
 * on file descriptor 3.
 *
 * - kind: requests (200 at once, each logs ten debug lines between its waits, one in ten fails) | storm (50,000 equal
 * errors)
 * - options: of pino-ingest
 */
import { writeSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { flush, ingestOptions } from 'pino-ingest'

const { kind, options } = JSON.parse(process.env.PLAN)
const logger = pino(ingestOptions({ level: 'debug', transport: { target: 'pino-ingest', options } }))

async function request(id) {
  const log = logger.child({ reqId: `req-${id}` })
  for (let step = 0; step < 10; step += 1) {
    log.debug({ step }, `step ${step} of ${id}`)
    for (let turns = (id * 7 + step * 3) % 5; turns >= 0; turns -= 1) await turn()
  }
  if (id % 10 === 0) log.error(new Error(`failed ${id}`), 'request failed')
  else log.info('request completed')
}

if (kind === 'requests') await Promise.all(Array.from({ length: 200 }, (_, id) => request(id)))
else {
  for (let n = 0; n < 50_000; n += 1) {
    logger.error(
      Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED', attempt: n }),
      'the database is away',
    )
    if (n % 100 === 99) await turn()
  }
}
await flush(logger, { timeoutMs: 30_000 })
const transport = logger[pino.symbols.streamSym]
let account
transport.on('ingest:stats', (stats) => {
  account = stats
})
const hold = setInterval(() => {}, 60_000) // pino's worker does not keep the process alive
transport.end()
await new Promise((resolve) => {
  transport.once('close', resolve)
})
clearInterval(hold)
writeSync(3, JSON.stringify(account))
