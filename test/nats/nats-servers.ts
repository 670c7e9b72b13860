/** Tests with real servers of NATS: skipped where there are none, unless they are required. */
import { onTestFinished } from 'vitest'
import { findNatsServer, HOW_TO_GET_NATS_SERVER, startNatsServers } from './nats-servers.mjs'
import type { NatsServers } from './nats-servers.mjs'

export { findNatsServer, HOW_TO_GET_NATS_SERVER, NatsServers, startNatsServers } from './nats-servers.mjs'

/** Set where the server is required, as in CI. */
export const NEEDS_NATS = process.env['PINO_INGEST_NEEDS_NATS'] === '1'

/** For tests with processes and servers. A process or a server that hangs fails by it, however slow the machine is. */
export const UNLESS_IT_HANGS = { timeout: 180_000 }

/** For `describe.skipIf(SKIPS_NATS)`: says why, once for each file. */
export const SKIPS_NATS = !NEEDS_NATS && findNatsServer() === undefined
if (SKIPS_NATS) process.stderr.write(`skipped: ${HOW_TO_GET_NATS_SERVER}\n`)

/** Servers that end with the test. @throws if nats-server is not installed, with instructions */
export async function natsServers(
  options?: Parameters<typeof startNatsServers>[0],
  whenFinished: (close: () => Promise<void>) => void = onTestFinished,
): Promise<NatsServers> {
  const servers = await startNatsServers(options)
  whenFinished(() => servers.close())
  return servers
}
