/** Monitors: one for a job that counts the stock, one for the process itself. */
import { monitor, startHeartbeat } from 'pino-ingest'

const ALIVE_MS = 5_000
const COUNT_MS = 20_000

/** @returns function that stops them */
export async function startJobs(logger, inventory) {
  const countStock = () =>
    monitor(
      'demo-stock-count',
      async () => {
        const items = (await inventory.inject('/stock')).json()
        logger.info(
          { action: 'stock.count', items: items.length, left: items.reduce((sum, { left }) => sum + left, 0) },
          'stock counted',
        )
      },
      { logger },
    )
  const stopHeartbeat = startHeartbeat('demo-shop-alive', { everyMs: ALIVE_MS, logger })
  let last = countStock()
  await last
  const timer = setInterval(() => {
    last = countStock()
  }, COUNT_MS)
  return async () => {
    clearInterval(timer)
    await last
    await stopHeartbeat()
  }
}
