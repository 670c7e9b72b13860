/** [main] Creates a client for one call. No connection outlives the call, so a script exits when its work is done. */
import { IngestClient } from './index.js'
import type { TransportHooks } from './retrying-caller.js'
import { createTransportClient } from './ingest-client.js'
import type { IngestClientOptions } from './index.js'

/** @throws IngestError `CONFIG` before anything else is done; then the errors of `call`. */
export async function withClient<T>(
  options: IngestClientOptions,
  call: (client: IngestClient) => Promise<T>,
  wiring?: TransportHooks,
): Promise<T> {
  const client = wiring === undefined ? new IngestClient(options) : createTransportClient(options, wiring)
  try {
    return await call(client)
  } finally {
    await client.close()
  }
}
