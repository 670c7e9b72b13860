import pino from 'pino'
import { ingestOptions, ingestStream } from 'pino-ingest'

const options = { service: 'shops' }
export const workerLogger = () => pino(ingestOptions({ transport: { target: 'pino-ingest', options } }))
export const inProcessLogger = () => pino(ingestStream(options))

/** For a `pino()` in another package: pino resolves a name relative to itself, and uses a path unchanged. */
export const byName = ingestOptions({ transport: { target: 'pino-ingest', options } })
export const byPath = ingestOptions({ transport: { target: import.meta.resolve('pino-ingest'), options } })
export const stream = () => ingestStream(options)
