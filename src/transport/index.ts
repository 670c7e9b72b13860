/** Module that the entry point loads when pino's worker calls it. */
import '../shared/node-version.js'
export { default as ingestTransport } from './worker.js'
