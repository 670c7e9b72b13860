/**
 * Creates the destination of batches: the service or NATS. Its senders make single attempts; retries and isolation are
 * added by the pipeline.
 */
import { createHttp } from '../client/http.js'
import type { Destination, DestinationOptions } from './destination-types.js'
import { createIngestSender, createRequestsSender } from './ingest-sender.js'
import { createJetStreamDestination } from './jetstream-destination.js'

export type { Destination } from './destination-types.js'

/** @throws IngestError `CONFIG` if the NATS client is needed and not installed */
export function createDestination(options: DestinationOptions): Destination {
  const { nats } = options.settings
  return nats === undefined ? createHttpDestination(options) : createJetStreamDestination(nats, options)
}

function createHttpDestination({ settings, clock, mask }: DestinationOptions): Destination {
  const http = createHttp({ ...settings, maxConnections: settings.maxConcurrency })
  const hint = `check url${settings.proxy === false ? '' : ' and proxy'}, or run \`npx pino-ingest doctor\``
  const options = { http, clock, mask, hint }
  return {
    entries: createIngestSender(options),
    requestLogs: createRequestsSender(options),
    prepare: () => http.prepare(),
    close: () => http.close(),
    onMaxBodyBytes: () => {},
  }
}
