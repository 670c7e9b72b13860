/** [main] Creates a client for one call. No connection outlives the call, so a script exits when its work is done. */
import { IngestClient, IngestError } from './index.js'
import type { TransportHooks } from './retrying-caller.js'
import { createTransportClient } from './ingest-client.js'
import type { IngestClientOptions } from './index.js'
import { LOCAL_URL } from '../options/resolve-options.js'

/** @throws IngestError `CONFIG` before anything else is done; then the errors of `call`. */
export async function withClient<T>(
  options: IngestClientOptions,
  call: (client: IngestClient) => Promise<T>,
  wiring?: TransportHooks,
): Promise<T> {
  const client = wiring === undefined ? new IngestClient(options) : createTransportClient(options, wiring)
  try {
    return await call(client)
  } catch (error) {
    throw addLocalHint(error)
  } finally {
    await client.close()
  }
}

/** Adds a hint if no URL was set, since the user may not know that requests go to the local service. */
export function addLocalHint(error: unknown): unknown {
  if (!(error instanceof IngestError) || error.code !== 'UNAVAILABLE' || !error.message.includes(`${LOCAL_URL}/`))
    return error
  return new IngestError(
    error.code,
    `${error.message}; start the local service with \`npx pino-ingest dev\`, or set PINO_INGEST_URL`,
  )
}
