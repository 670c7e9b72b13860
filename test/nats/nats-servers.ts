/** Helpers for tests with real NATS servers. Without nats-server the tests are skipped, unless it is required. */
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { findNatsServer, HOW_TO_GET_NATS_SERVER, startNatsServers } from './nats-servers.mjs'
import type { NatsServers } from './nats-servers.mjs'

export { NatsServers, startNatsServers } from './nats-servers.mjs'

/** Set if nats-server is required, as in CI. */
export const NEEDS_NATS = process.env['PINO_INGEST_NEEDS_NATS'] === '1'

/** Timeout of tests with processes and servers. Long, so that only a hanging process exceeds it. */
export const UNLESS_IT_HANGS = { timeout: 180_000 }

/** For `describe.skipIf(SKIPS_NATS)`. Prints the reason once per file. */
export const SKIPS_NATS = !NEEDS_NATS && findNatsServer() === undefined
if (SKIPS_NATS) process.stderr.write(`skipped: ${HOW_TO_GET_NATS_SERVER}\n`)

/** Starts servers that end with the test. @throws an error with instructions if nats-server is not installed */
export async function natsServers(
  options?: Parameters<typeof startNatsServers>[0],
  whenFinished: (close: () => Promise<void>) => void = onTestFinished,
): Promise<NatsServers> {
  const servers = await startNatsServers(options)
  whenFinished(() => servers.close())
  return servers
}

/** Servers for all tests of a file. */
export function useNatsServers(options?: Parameters<typeof startNatsServers>[0]): () => NatsServers {
  let servers: NatsServers | undefined
  beforeAll(async () => {
    if (!SKIPS_NATS) servers = await startNatsServers(options)
  }, UNLESS_IT_HANGS.timeout)
  afterAll(() => servers?.close())
  return () => servers as NatsServers
}
