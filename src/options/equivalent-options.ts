/**
 * The options that correspond to those of other transports (`docs/migration.md` lists all of them), to members given as options, and to
 * other usual names. Also for variables: `PINO_INGEST_SERVICE_NAME` is looked up as `serviceName`.
 */
import { findNearestName } from '../shared/nearest-name.js'

const OURS: Readonly<Record<string, readonly string[]>> = {
  host: ['url'],
  hostname: ['url'],
  node: ['url'],
  endpoint: ['url'],
  server: ['url'],
  address: ['url'],
  uri: ['url'],
  baseUrl: ['url'],
  apiUrl: ['url'],
  dsn: ['url', 'apiKey'],
  ddServerConf: ['url'],
  key: ['apiKey'],
  token: ['apiKey'],
  apiToken: ['apiKey'],
  accessToken: ['apiKey'],
  secret: ['apiKey'],
  password: ['apiKey'],
  auth: ['apiKey'],
  sourceToken: ['apiKey'],
  basicAuth: ['apiKey'],
  ddClientConf: ['apiKey'],
  authorization: ['apiKey'],
  labels: ['service', 'environment', 'tags', 'metadata'],
  dataset: ['service'],
  ddsource: ['service'],
  ddtags: ['tags', 'metadata'],
  batching: ['batch.size', 'batch.intervalMs'],
  batchSize: ['batch.size'],
  batchBytes: ['batch.bytes'],
  batchInterval: ['batch.intervalMs'],
  flushInterval: ['batch.intervalMs'],
  flushIntervalMs: ['batch.intervalMs'],
  sendIntervalMs: ['batch.intervalMs'],
  interval: ['batch.intervalMs'],
  intervalMs: ['batch.intervalMs'],
  bufferSize: ['maxBufferBytes'],
  maxBufferSize: ['maxBufferBytes'],
  spoolDir: ['spool.dir'],
  sampleRate: ['sample'],
  debug: ['logTo'],
  timeout: ['requestTimeoutMs'],
  syncMax: ['maxConcurrency'],
  retries: ['retry'],
  maxRetries: ['retry'],
  retryBackoff: ['retry.minMs', 'retry.maxMs'],
  retryMinMs: ['retry.minMs'],
  retryMaxMs: ['retry.maxMs'],
  silenceErrors: ['logTo'],
  ignoreExceptions: ['logTo'],
  onError: ['logTo'],
  onProblem: ['logTo'],
  app: ['service'],
  appName: ['service'],
  application: ['service'],
  serviceName: ['service'],
  name: ['service'],
  env: ['environment'],
  redact: ['scrub.keys', 'scrub.patterns'],
  scrubKeys: ['scrub.keys'],
  scrubPatterns: ['scrub.patterns'],
  scrubUrlParams: ['scrub.urlParams'],
  requestLogsIgnore: ['requestLogs.ignore'],
  messageKey: ['pino.messageKey'],
  errorKey: ['pino.errorKey'],
  nestedKey: ['pino.nestedKey'],
  customLevels: ['pino.customLevels'],
  levelKey: ['pino.levelKey'],
  releaseId: ['release'],
}

const BY_LOWER_CASE = new Map(Object.entries(OURS).map(([name, options]) => [name.toLowerCase(), options]))

/** @returns the names of the corresponding options; empty if there is none */
export function findEquivalentOptions(name: string): readonly string[] {
  return BY_LOWER_CASE.get(name.toLowerCase()) ?? []
}

/**
 * @param maxDistance letters that may differ from a known option
 * @returns the known options that an unknown one was probably meant to be, for a message
 */
export function suggestOptions(name: string, known: readonly string[], maxDistance?: number): string | undefined {
  const here = findEquivalentOptions(name).filter((one) => known.includes(one.split('.')[0] ?? one))
  return here.length > 0 ? here.join(', ') : findNearestName(name, known, maxDistance)
}
