/** The options that correspond to those of other transports. `README.md` lists all of them. */
import type { OptionName } from './option-table.js'

const OURS: Readonly<Record<string, readonly OptionName[]>> = {
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
  batching: ['batchSize', 'flushIntervalMs'],
  batchInterval: ['flushIntervalMs'],
  sendIntervalMs: ['flushIntervalMs'],
  interval: ['flushIntervalMs'],
  timeout: ['requestTimeoutMs'],
  syncMax: ['maxConcurrency'],
  retryBackoff: ['retryMinMs', 'retryMaxMs'],
  silenceErrors: ['onProblem'],
  ignoreExceptions: ['onProblem'],
  onError: ['onProblem'],
  appName: ['service'],
  redact: ['scrubPatterns'],
}

/** @returns the names of the corresponding options; empty if there is none */
export function findEquivalentOptions(name: string): readonly string[] {
  return Object.hasOwn(OURS, name) ? (OURS[name] ?? []) : []
}
