/**
 * What is measured: ours, its peers, and what pino costs without a network.
 *
 * The peers are set as an engineer would who wants throughput and has read their pages: nothing is dropped for being too much, and
 * of the values that were tried those are kept that were fastest. They may send as much in a request as they like; ours keeps to its
 * service's limit of 100.
 *
 * The values were tried in turns on a machine that had other work, where the rounds of one value lay up to twice apart. So what differs
 * by a tenth is a guess. Those of pino-loki, pino-elasticsearch and pino-opentelemetry-transport were tried on all three shapes, the
 * others on HTTP requests alone.
 */
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} [version]
 * @property {string} peer whose protocol it speaks; '' where it needs no sink
 * @property {string} target
 * @property {'debug' | 'info'} [level] of the application's logger, `info` by default. Ours has `debug`, since breadcrumbs are on: its
 *   worker filters debug lines. The peers have no use for debug lines that are not sent, so pino filters them in the main thread.
 * @property {boolean} [isOurs]
 * @property {boolean} [needsFolder] for the spool
 * @property {(origin: string, folder: string) => object} options
 */

const OURS = fileURLToPath(new URL('../../dist/cjs/index.js', import.meta.url))
const MIB = 1024 * 1024
const IDENTITY = { apiKey: 'bench', service: 'shop', environment: 'production', version: '1.0.0' }

/** @type {Subject} Everything on: spool, breadcrumbs, full mapping. */
export const SPOOL_ON = {
  name: 'spool on',
  peer: 'pino-ingest',
  target: OURS,
  isOurs: true,
  level: 'debug',
  needsFolder: true,
  options: (origin, dir) => ({ url: `${origin}/api/v1`, ...IDENTITY, spool: { dir } }),
}

/** @type {Subject} As the peers, it drops nothing for being too much: the load is a flood, its own bound 64 MiB. */
export const SPOOL_OFF = {
  name: 'spool off',
  peer: 'pino-ingest',
  target: OURS,
  isOurs: true,
  level: 'debug',
  options: (origin) => ({ url: `${origin}/api/v1`, ...IDENTITY, spool: false, maxBufferBytes: 1024 * MIB }),
}

/** @type {Readonly<Record<import('./install.mjs').PeerName, (origin: string) => object>>} */
const PEER_OPTIONS = {
  // Tried every 20, 50, 100, 250 ms: 20 and 50 lead, by turns; 100 and 250 are behind. 0: no bound, at which it drops the oldest.
  'pino-loki': (host) => ({ host, batching: { interval: 0.05, maxBufferSize: 0 } }),
  // Tried 0.3, 1 and 5 MB a request (its default is 1 kB). Against 5 MB, 1 MB is a little behind on small records (a tenth more CPU) and
  // HTTP requests, ahead on errors and behind 100 ms, and takes less memory. Five in flight, which its options cannot change.
  'pino-elasticsearch': (node) => ({ node, esVersion: 8, flushBytes: 1_000_000, flushInterval: 100 }),
  // It has no setting: 1,000 a request, one in flight, gzip. Once its last request is over a second old, as when the machine has other
  // work to do, it sends each record alone, and such a run may not end in time.
  '@axiomhq/pino': (url) => ({ dataset: 'app', token: 'token', url }),
  // Tried 1,000, 2,000 and 5,000 a request (its default is 512): 5,000 leads on HTTP requests, errors and behind 100 ms, since it has
  // one in flight, and is level on small records. As JSON instead of protobuf it is slower. Its queue drops what is too much.
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
  // Tried 300, 1,000 (its default) and 5,000 a request with 1, 5 (its default) and 20 in flight. Its defaults drop what exceeds 10,000
  // in 5 s or 100 waiting requests, and look for each record's caller on the stack, which pino's worker does not have.
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
    // The second of its client's servers is the one whose address can be given.
    ddClientConf: { authMethods: { apiKeyAuth: 'key' }, serverIndex: 1 },
    ddServerConf: { protocol: 'http', name: new URL(origin).host },
    // Tried every 50, 100 and 500 ms. Not to be set: 996 entries or 5 MB a request, gzip, as many in flight as there are.
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

/** @type {readonly Subject[]} pino's own worker, without any request: what is left to nobody to save. */
export const BASELINES = [
  { name: 'pino/file to /dev/null', peer: '', target: 'pino/file', options: () => ({ destination: '/dev/null' }) },
  {
    name: 'a worker that drops all',
    peer: '',
    target: fileURLToPath(new URL('./empty-transport.cjs', import.meta.url)),
    options: () => ({}),
  },
]
