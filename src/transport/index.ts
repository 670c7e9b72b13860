/** The transport, in pino's worker and without one. The build makes one file of it, which the entry point loads when one of both is called. */
import '../shared/node-version.js'
export { default as ingestTransport } from './worker.js'
export { ingestStream } from './in-process.js'
