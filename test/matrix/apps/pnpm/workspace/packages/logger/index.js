import pino from 'pino'
import { ingestOptions, ingestStream } from 'pino-ingest'

const options = { service: 'shops' }
export const workerLogger = () => pino(ingestOptions({ transport: { target: 'pino-ingest', options } }))
export const inProcessLogger = () => pino(ingestStream(options))

/** For a `pino()` elsewhere: it looks for a name beside itself, and takes a path as it is. */
export const byName = ingestOptions({ transport: { target: 'pino-ingest', options } })
export const byPath = ingestOptions({ transport: { target: import.meta.resolve('pino-ingest'), options } })
export const stream = () => ingestStream(options)
