/**
 * Names in other transports (`docs/migration.md` lists the usual ones) and other usual names, by the option that corresponds to them. Also
 * for variables: `PINO_INGEST_SERVICE_NAME` is looked up as `serviceName`.
 */
import { findNearestName } from '../shared/nearest-name.js'
import { OPTION_TABLE, listPaths } from './option-table.js'
import type { OptionName } from './option-table.js'

const OTHER_NAMES = {
  url: 'host hostname node endpoint server address uri baseUrl apiUrl dsn ddServerConf',
  apiKey: 'key token apiToken accessToken secret password auth sourceToken basicAuth ddClientConf authorization dsn',
  service: 'labels dataset ddsource app appName application serviceName name',
  environment: 'labels env',
  tags: 'labels ddtags',
  metadata: 'labels ddtags',
  releaseId: 'release',
  registerRelease: 'release',
  sendLevel: 'level',
  sample: 'sampleRate',
  'scrub.keys': 'redact scrubKeys',
  'scrub.patterns': 'redact',
  'batch.size': 'batching batchSize',
  'batch.intervalMs': 'batching batchInterval flushInterval interval intervalMs',
  maxConcurrency: 'syncMax',
  requestTimeoutMs: 'timeout',
  retry: 'retries maxRetries',
  'retry.maxMs': 'retryBackoff',
  logTo: 'debug silenceErrors ignoreExceptions onError',
  'spool.dir': 'spoolDir',
  maxBufferBytes: 'bufferSize maxBufferSize',
  'pino.messageKey': 'messageKey',
  'pino.errorKey': 'errorKey',
  'pino.nestedKey': 'nestedKey',
  'pino.customLevels': 'customLevels',
  'pino.customAttributeKeys': 'customAttributeKeys',
}

/** @returns the names of the corresponding options; empty if there is none */
export function findEquivalentOptions(name: string): readonly string[] {
  return Object.entries(OTHER_NAMES)
    .filter(([, others]) => others.toLowerCase().split(' ').includes(name.toLowerCase()))
    .map(([option]) => option)
}

/**
 * @param maxDistance letters that may differ from a known option
 * @returns the known options that an unknown one was probably meant to be, for a message
 */
export function suggestOptions(name: string, known: readonly string[], maxDistance?: number): string | undefined {
  const here = findEquivalentOptions(name).filter((one) => known.includes(one.split('.')[0] ?? one))
  if (here.length > 0) return here.join(', ')
  return findNearestName(name, known, maxDistance) ?? findMember(name, known)
}

/** `durability` without its group is `spool.durability`. */
function findMember(name: string, known: readonly string[]): string | undefined {
  const paths = (Object.keys(OPTION_TABLE) as OptionName[]).filter((one) => known.includes(one)).flatMap(listPaths)
  return paths.find(({ path }) => path.endsWith(`.${name}`))?.path
}
