/** The options that correspond to those of other transports (`docs/migration.md` lists all of them), and to members given as options. */

const OURS: Readonly<Record<string, readonly string[]>> = {
  host: ['url'],
  endpoint: ['url'],
  baseUrl: ['url'],
  ddServerConf: ['url'],
  token: ['apiKey'],
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
  timeout: ['requestTimeoutMs'],
  syncMax: ['maxConcurrency'],
  retryBackoff: ['retry.minMs', 'retry.maxMs'],
  retryMinMs: ['retry.minMs'],
  retryMaxMs: ['retry.maxMs'],
  silenceErrors: ['logTo'],
  ignoreExceptions: ['logTo'],
  onError: ['logTo'],
  onProblem: ['logTo'],
  appName: ['service'],
  redact: ['scrub.patterns'],
  scrubPatterns: ['scrub.patterns'],
  scrubUrlParams: ['scrub.urlParams'],
  messageKey: ['pino.messageKey'],
  errorKey: ['pino.errorKey'],
  nestedKey: ['pino.nestedKey'],
  customLevels: ['pino.customLevels'],
  levelKey: ['pino.levelKey'],
  releaseId: ['release'],
}

/** @returns the names of the corresponding options; empty if there is none */
export function findEquivalentOptions(name: string): readonly string[] {
  return Object.hasOwn(OURS, name) ? (OURS[name] ?? []) : []
}
