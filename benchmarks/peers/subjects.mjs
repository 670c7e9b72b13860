/**
 * The measured subjects: pino-ingest, its peers, and pino without a network.
 *
 * The peers are configured for throughput as their documentation suggests: nothing is dropped at a limit, and of the
 * values that were tried the fastest are used. They may send requests of any size; pino-ingest has its service's
 * limit of 100.
 *
 * The values were tried alternately on a machine with other load, where the rounds of one value differed by up to a
 * factor of two, so differences of a tenth are uncertain. Those of pino-loki, pino-elasticsearch and
 * pino-opentelemetry-transport were tried on all three shapes, the others only on HTTP requests.
 */
import { fileURLToPath } from 'node:url'
import { IDENTITY, TARGET } from '../tools/ours.mjs'

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} [version]
 * @property {string} peer whose protocol it uses; '' if it needs no sink
 * @property {string} target
 * @property {'debug' | 'info'} [level] of the application's logger, `info` by default. `debug` for pino-ingest, since
 *   its breadcrumbs need debug lines: its worker filters them. The peers do not use them, so pino filters them in the
 *   main thread.
 * @property {boolean} [isOurs]
 * @property {(origin: string, folder: string) => object} options `folder`: for the spool
 */

/** @type {Subject} With everything on: spool, breadcrumbs, full mapping. */
export const OURS = {
  name: 'pino-ingest',
  peer: 'pino-ingest',
  target: TARGET,
  isOurs: true,
  level: 'debug',
  options: (origin, dir) => ({ url: `${origin}/api/v1`, ...IDENTITY, spool: { dir } }),
}

/** @type {Readonly<Record<import('./install.mjs').PeerName, (origin: string) => object>>} */
const PEER_OPTIONS = {
  // Tried every 20, 50, 100, 250 ms: 20 and 50 are fastest in turn; 100 and 250 are slower. 0: no limit, at which it
  // would drop the oldest.
  'pino-loki': (host) => ({ host, batching: { interval: 0.05, maxBufferSize: 0 } }),
  // Tried 0.3, 1 and 5 MB per request (its default is 1 kB). Compared with 5 MB, 1 MB is a little slower on small
  // records (a tenth more CPU) and HTTP requests, faster on errors and with 100 ms latency, and uses less memory.
  // Five in flight, which its options cannot change.
  'pino-elasticsearch': (node) => ({ node, esVersion: 8, flushBytes: 1_000_000, flushInterval: 100 }),
  // It has no such option: 1,000 per request, one in flight, gzip. If its last request is over 1 s old, as when the
  // machine is busy, it sends each record alone, and such a run may not end in time.
  '@axiomhq/pino': (url) => ({ dataset: 'app', token: 'token', url }),
  // Tried 1,000, 2,000 and 5,000 per request (its default is 512): 5,000 is fastest on HTTP requests, on errors and
  // with 100 ms latency, since it has one in flight, and equal on small records. JSON is slower than protobuf. Its
  // queue drops the excess.
  'pino-opentelemetry-transport': (origin) => ({
    loggerName: 'app',
    serviceVersion: '1.0.0',
    resourceAttributes: { 'service.name': 'shop' },
    logRecordProcessorOptions: {
      recordProcessorType: 'batch',
      exporterOptions: { protocol: 'http/protobuf', protobufExporterOptions: { url: `${origin}/v1/logs` } },
      processorConfig: { maxQueueSize: 1_000_000, maxExportBatchSize: 5000, scheduledDelayMillis: 100 },
    },
  }),
  // Tried 300, 1,000 (its default) and 5,000 per request with 1, 5 (its default) and 20 in flight. By default it
  // drops more than 10,000 in 5 s or 100 waiting requests, and searches the stack for each record's caller, which
  // pino's worker does not have.
  '@logtail/pino': (endpoint) => ({
    sourceToken: 'token',
    options: {
      endpoint,
      burstProtectionMax: 0,
      syncQueuedMax: -1,
      captureStackContext: false,
      batch: { size: 5000 },
      batchInterval: 100,
      syncMax: 5,
    },
  }),
  'pino-datadog-transport': (origin) => ({
    // Only the address of its client's second server can be set.
    ddClientConf: { authMethods: { apiKeyAuth: 'key' }, serverIndex: 1 },
    ddServerConf: { protocol: 'http', name: new URL(origin).host },
    // Tried every 50, 100 and 500 ms. Not configurable: 996 entries or 5 MB per request, gzip, unlimited requests in
    // flight.
    sendIntervalMs: 50,
  }),
}

/** @param {readonly import('./install.mjs').Installed[]} installed @returns {Subject[]} */
export function peerSubjects(installed) {
  return installed.map(({ name, version, target }) => ({
    name,
    version,
    peer: name,
    target,
    options: PEER_OPTIONS[name],
  }))
}

/** @type {Subject} pino's own worker without requests: the minimum for every transport. */
export const EMPTY = {
  name: 'a worker that drops all',
  peer: '',
  target: fileURLToPath(new URL('./empty-transport.cjs', import.meta.url)),
  options: () => ({}),
}
