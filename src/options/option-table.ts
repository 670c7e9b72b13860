/**
 * The table of options: the source of their types, variables, defaults and rules, and of the README's tables.
 * The default variable is `PINO_INGEST_` and the option's name in upper case.
 */
import type { JsonObject } from '../protocol/log-entry.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'
import {
  flag,
  integer,
  key,
  keys,
  modulePath,
  levels,
  object,
  oneOf,
  pems,
  proxyUrl,
  text,
  texts,
  textsNamed,
} from './kinds.js'
import type { Kind } from './kinds.js'
import { scrubPatterns } from './scrub-patterns.js'
import { LARGEST_BATCH_BYTES, LARGEST_ENTRY_BYTES } from './size-limits.js'
import { spool } from './spool-settings.js'
import { DEFAULT_BREADCRUMBS, rates, requestLogs, breadcrumbs } from './breadcrumb-settings.js'

interface RowSettings<T> {
  readonly kind: Kind<T>
  /** The first that is set wins. */
  readonly variables?: readonly string[]
  /** Used if neither code nor environment sets the option. */
  readonly default?: T
  /** Describes a default that is not a plain value. */
  readonly defaultText?: string
  /** For the README. */
  readonly meaning: string
  /** Never shown in a message. */
  readonly secret?: true
}

export interface OptionRow<T> extends RowSettings<T> {
  /** The README's table that lists it. */
  readonly group: Group
}

/** In the order of the README's tables. */
const GROUPS = [
  'Connection',
  'About the application',
  'What is sent',
  'Delivery',
  'Memory and disk',
  'How records are read',
] as const
export type Group = (typeof GROUPS)[number]

function rowsOf(group: Group) {
  return <const T>(settings: RowSettings<T>): OptionRow<T> => ({ group, ...settings })
}

const connection = rowsOf('Connection')
const app = rowsOf('About the application')
const sent = rowsOf('What is sent')
const delivery = rowsOf('Delivery')
const keeping = rowsOf('Memory and disk')
const reading = rowsOf('How records are read')

const MIB = 1024 * 1024
const DAY_MS = 86_400_000
export const LEVEL_NAMES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

export const OPTION_TABLE = {
  enabled: connection({ kind: flag, default: true, meaning: '`false`: records are consumed, nothing is sent' }),
  url: connection({
    kind: text,
    defaultText: 'outside production the local service, `http://127.0.0.1:4319/api/v1`',
    meaning:
      'base URL of the service, ends with `/api/v1`; required when `NODE_ENV` is `production`; `https` unless the host is loopback',
  }),
  apiKey: connection({
    kind: key,
    variables: ['PINO_INGEST_API_KEY', 'PINO_INGEST_API_KEY_FILE'],
    secret: true,
    defaultText: 'required, but for the local service',
    meaning:
      'sent as `X-API-Key` to the configured `url`, never to the implicit local service; the second variable names a file that contains it',
  }),
  allowInsecure: connection({
    kind: flag,
    default: false,
    meaning: 'allows plain `http` to a host other than loopback',
  }),
  tls: connection({
    kind: pems,
    variables: ['PINO_INGEST_TLS_CA', 'PINO_INGEST_TLS_CERT', 'PINO_INGEST_TLS_KEY'],
    secret: true,
    defaultText: "Node's own",
    meaning: '`{ ca, cert, key }` as PEM: a private CA, a client certificate; the variables name files',
  }),
  proxy: connection({
    kind: proxyUrl,
    variables: ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'],
    secret: true,
    defaultText: 'from the environment, but not for loopback',
    meaning: 'URL of an HTTP proxy, used only if `url` is set; `false` for none',
  }),
  compression: connection({
    kind: oneOf('none', 'gzip'),
    default: 'none',
    meaning: '`gzip` only if your service supports it, which its interface does not specify',
  }),
  service: app({
    kind: text,
    variables: ['PINO_INGEST_SERVICE', 'OTEL_SERVICE_NAME'],
    defaultText: "pino's `name`, then `npm_package_name`",
    meaning: 'name of the service that logs',
  }),
  environment: app({ kind: text, defaultText: '`NODE_ENV`', meaning: 'environment label' }),
  version: app({ kind: text, defaultText: '`npm_package_version`', meaning: 'version of the application' }),
  tags: app({ kind: texts, default: [], meaning: 'added to every entry; the variable is a comma-separated list' }),
  metadata: app<JsonObject>({ kind: object, default: {}, meaning: 'added to every entry; the variable is JSON' }),
  deploy: app({
    kind: textsNamed('commit', 'branch', 'deployed_by'),
    variables: ['PINO_INGEST_COMMIT', 'PINO_INGEST_BRANCH', 'PINO_INGEST_DEPLOYED_BY'],
    defaultText: "the CI provider's variables",
    meaning: '`{ commit, branch, deployed_by }`, for every entry',
  }),
  release: app({
    kind: flag,
    default: false,
    meaning: '`true`: registers the release at start, and every entry carries its id',
  }),
  releaseId: app({ kind: text, meaning: 'id of a registered release, for every entry' }),
  level: sent({
    kind: oneOf(...LEVEL_NAMES),
    default: 'info',
    meaning: "lowest level that is sent; pino's own levels decide what is received",
  }),
  sample: sent({
    kind: rates,
    variables: [
      'PINO_INGEST_SAMPLE_DEBUG',
      'PINO_INGEST_SAMPLE_INFO',
      'PINO_INGEST_SAMPLE_WARN',
      'PINO_INGEST_SAMPLE_ERROR',
      'PINO_INGEST_SAMPLE_FATAL',
    ],
    defaultText: 'all',
    meaning: '`{ debug: 0.1 }`: the share of a level that is sent; the records of a trace are all sent or all filtered',
  }),
  dedupeWindowMs: sent({
    kind: integer(0, DAY_MS, 'ms'),
    default: 0,
    meaning:
      'window in which the first of equal errors is sent, and one summary at its end counts the others; 0 disables it',
  }),
  breadcrumbs: sent({
    kind: breadcrumbs,
    defaultText: `\`{ limit: ${DEFAULT_BREADCRUMBS.limit}, level: '${DEFAULT_BREADCRUMBS.level}', maxBytes: 8 MiB }\``,
    meaning: 'attaches the records logged before an error to its entry; `false` for none',
  }),
  requestLogs: sent({
    kind: requestLogs,
    default: false,
    meaning: '`true`: HTTP records are also sent to request analytics; `only`: they are sent only there',
  }),
  fingerprint: sent({
    kind: oneOf('auto', false),
    default: false,
    meaning: '`auto` computes one for errors; the service uses it for de-duplication',
  }),
  beforeSend: sent({
    kind: modulePath,
    meaning: 'path of a module whose default export takes an entry and returns one, or `null` to drop it',
  }),
  scrubPatterns: sent({
    kind: scrubPatterns,
    default: [],
    meaning:
      "patterns that are removed from every text: `email`, `creditCard`, `ssn`, `bearer`, or a regular expression's source",
  }),
  scrubUrlParams: sent({
    kind: texts,
    default: ['token', 'password', 'secret', 'authorization', 'api_key', 'access_token'],
    meaning: 'parameters whose value is removed from every URL',
  }),
  maxEntryBytes: sent({
    kind: integer(1_024, LARGEST_ENTRY_BYTES, 'bytes'),
    default: 256 * 1024,
    meaning: 'a longer entry is shortened and flagged',
  }),
  batchSize: delivery({
    kind: integer(1, MAX_LOGS_PER_REQUEST),
    default: MAX_LOGS_PER_REQUEST,
    meaning: 'maximum number of entries in a request',
  }),
  batchBytes: delivery({
    kind: integer(1_024, LARGEST_BATCH_BYTES, 'bytes'),
    default: MIB,
    meaning: 'maximum size of a request body; a longer entry is sent alone',
  }),
  flushIntervalMs: delivery({
    kind: integer(1, DAY_MS, 'ms'),
    default: 1_000,
    meaning: 'maximum time that an entry waits for its batch; after a pause 50 ms',
  }),
  maxConcurrency: delivery({
    kind: integer(1, 256),
    default: 128,
    meaning:
      'maximum number of requests in flight: 1 when idle, more while entries wait and the service keeps up, fewer when it is slow or overloaded; 1 keeps the order',
  }),
  requestTimeoutMs: delivery({
    kind: integer(100, 600_000, 'ms'),
    default: 10_000,
    meaning: 'time limit of a whole request, including at most 3 s to connect',
  }),
  retryMinMs: delivery({
    kind: integer(1, DAY_MS, 'ms'),
    default: 250,
    meaning: 'maximum of the first random delay after a failure; the maximum doubles with each further failure',
  }),
  retryMaxMs: delivery({
    kind: integer(1, DAY_MS, 'ms'),
    default: 30_000,
    meaning: 'upper limit of the delay: in the first 20 s of an outage 5 s, then a quarter of its age, at most this',
  }),
  shutdownTimeoutMs: delivery({
    kind: integer(0, 8_000, 'ms'),
    default: 3_000,
    meaning: 'time limit for delivery at exit; pino itself waits at most 10 s',
  }),
  onProblem: delivery({
    kind: oneOf('stderr', 'silent'),
    variables: ['PINO_INGEST_LOG'],
    default: 'stderr',
    meaning: 'where the transport reports problems',
  }),
  spool: keeping({
    kind: spool,
    variables: ['PINO_INGEST_SPOOL', 'PINO_INGEST_SPOOL_DIR'],
    defaultText: 'on, in `<tmp>/pino-ingest-<uid>`; off for the local service',
    meaning:
      '`{ dir, maxBytes, maxAgeMs, durability }` or `false`: stores entries on disk until they are acknowledged; 256 MiB for all processes together, 7 days, `process` or `power`',
  }),
  maxBufferBytes: keeping({
    kind: integer(MIB, 1024 * MIB, 'bytes'),
    defaultText: '8 MiB with a spool, 64 MiB without',
    meaning: 'memory for entries that are not yet acknowledged',
  }),
  previousApiKeys: keeping({
    kind: keys,
    secret: true,
    defaultText: 'none',
    meaning:
      'entries stored on disk under these keys are sent with the current key; the variable is a comma-separated list',
  }),
  messageKey: reading({
    kind: text,
    defaultText: "pino's",
    meaning: 'as given to pino; needed for the pipe and `ingestStream()`',
  }),
  errorKey: reading({ kind: text, defaultText: "pino's", meaning: 'as `messageKey`' }),
  nestedKey: reading({ kind: text, meaning: 'as given to pino, which does not pass it to transports' }),
  customLevels: reading({
    kind: levels,
    defaultText: "pino's",
    meaning: 'as `messageKey`; `{ audit: 35 }`, in the variable `audit:35`',
  }),
} as const

export type OptionName = keyof typeof OPTION_TABLE

type ValueOf<R> = R extends OptionRow<infer T> ? T : never

/** An undefined member counts as not given, as an option does. Objects with any name (`string`) have no known members. */
type Given<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? string extends keyof T
      ? T
      : { [Member in keyof T]: T[Member] | undefined }
    : T

/** The values after reading. */
export type OptionValues = { -readonly [Name in OptionName]?: ValueOf<(typeof OPTION_TABLE)[Name]> | undefined }

/** The options that can be set in code; see the README's table. */
export type IngestOptions = { -readonly [Name in OptionName]?: Given<ValueOf<(typeof OPTION_TABLE)[Name]>> | undefined }

export function rowOf(name: OptionName): OptionRow<unknown> {
  return OPTION_TABLE[name] as OptionRow<unknown>
}

export function variablesOf(name: OptionName): readonly string[] {
  return rowOf(name).variables ?? [`PINO_INGEST_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`]
}

/** The options that most applications set; the README lists them first. */
const USUAL: readonly OptionName[] = [
  'url',
  'apiKey',
  'service',
  'environment',
  'tags',
  'level',
  'breadcrumbs',
  'requestLogs',
  'scrubPatterns',
  'spool',
  'shutdownTimeoutMs',
  'onProblem',
]

/** The README's tables: the usual options, and below them, collapsed, all options by group. */
export function optionsMarkdown(): string {
  const names = Object.keys(OPTION_TABLE) as OptionName[]
  const groups = GROUPS.map(
    (group) => `### ${group}\n\n${tableOf(names.filter((name) => rowOf(name).group === group))}`,
  )
  return [tableOf(USUAL), '<details>', `<summary>All ${names.length} options</summary>`, ...groups, '</details>'].join(
    '\n\n',
  )
}

function tableOf(names: readonly OptionName[]): string {
  return ['| option | variables | default | meaning |', '|---|---|---|---|', ...names.map(markdownOf)].join('\n')
}

function markdownOf(name: OptionName): string {
  const { kind, default: value, defaultText: shown, meaning } = rowOf(name)
  const defaultCell = shown ?? (value === undefined ? 'none' : `\`${JSON.stringify(value).replaceAll('"', "'")}\``)
  const rule = /^(?:an integer|one of)/.test(kind.rule) ? `; ${kind.rule}` : ''
  return `| \`${name}\` | ${variablesOf(name)
    .map((variable) => `\`${variable}\``)
    .join(', ')} | ${defaultCell} | ${meaning}${rule} |`
}
