/** The table of options: the source of their types, variables, defaults and rules, and of the tables in the documentation. */
import type { JsonObject } from '../protocol/log-entry.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'
import {
  flag,
  hook,
  integer,
  key,
  keys,
  levels,
  object,
  oneOf,
  path,
  pem,
  proxyUrl,
  release,
  share,
  text,
  texts,
} from './kinds.js'
import type { Row } from './kinds.js'
import { headers } from './headers.js'
import { group, switchable, variablesAt } from './option-group.js'
import { natsCredentials, streamName, subjectPrefix } from './nats-settings.js'
import type { NatsOptions } from './nats-settings.js'
import { scrubPatterns } from './scrub-patterns.js'
import { LARGEST_BATCH_BYTES, LARGEST_ENTRY_BYTES } from './size-limits.js'
import type { Pems } from './tls.js'

type RowSettings<T> = Row<T> & { readonly meaning: string }

export type OptionRow<T> = RowSettings<T> & {
  /** The table of docs/options.md that lists it. */
  readonly section: Section
}

/** In the order of the tables in docs/options.md. */
const SECTIONS = [
  'Connection',
  'About the application',
  'What is sent',
  'Delivery',
  'Memory and disk',
  'How records are read',
] as const
export type Section = (typeof SECTIONS)[number]

function rowsOf(section: Section) {
  return <const T>(settings: RowSettings<T>): OptionRow<T> => ({ section, ...settings })
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
  tls: connection<Pems>({
    kind: group({
      ca: { kind: pem, isFile: true, secret: true },
      cert: { kind: pem, isFile: true, secret: true },
      key: { kind: pem, isFile: true, secret: true },
    }),
    variables: [],
    secret: true,
    defaultText: "Node's own",
    meaning: '`{ ca, cert, key }` as PEM: a private CA, a client certificate and its key; the variables name files',
  }),
  nats: connection<NatsOptions>({
    kind: group({
      servers: {
        kind: texts,
        secret: true,
        meaning:
          'servers of NATS JetStream, such as `tls://nats.example.com:4222`: batches are published there, in place of `url` and `apiKey`, and `pino-ingest forward` sends them to the service; [a fleet](fleet.md)',
      },
      credentials: {
        kind: natsCredentials,
        variables: ['PINO_INGEST_NATS_CREDS'],
        isFile: true,
        secret: true,
        meaning: 'content of a `.creds` file, or the seed of an NKey; the variable names a file',
      },
      tls: {
        kind: group({
          ca: { kind: pem, isFile: true, secret: true },
          cert: { kind: pem, isFile: true, secret: true },
          key: { kind: pem, isFile: true, secret: true },
        }),
        variables: [],
        secret: true,
        defaultText: "Node's own",
        meaning: 'as `tls`, for the servers of NATS',
      },
      stream: { kind: streamName, default: 'PINO_INGEST', meaning: 'name of the JetStream stream' },
      subject: {
        kind: subjectPrefix,
        default: 'pino-ingest',
        meaning: 'log entries are published to `<subject>.logs`, request logs to `<subject>.requests`',
      },
    }),
    variables: [],
    secret: true,
    defaultText: 'none',
    meaning: 'a durable queue in front of the service, for many processes',
  }),
  proxy: connection({
    kind: proxyUrl,
    secret: true,
    defaultText: '`HTTPS_PROXY`, `HTTP_PROXY`, except for `NO_PROXY` and loopback',
    meaning: 'URL of an HTTP proxy, used only if `url` is set; `false` for none',
  }),
  headers: connection({
    kind: headers,
    secret: true,
    defaultText: 'none',
    meaning:
      '`{ name: value }`: sent with every request to the configured `url`, never to the implicit local service; the variable is JSON',
  }),
  compression: connection({
    kind: oneOf('none', 'gzip'),
    default: 'none',
    meaning: '`gzip` only if your service supports it, which its interface does not specify',
  }),
  service: app({
    kind: text,
    variables: ['PINO_INGEST_SERVICE', 'OTEL_SERVICE_NAME'],
    defaultText: "`service.name` of `OTEL_RESOURCE_ATTRIBUTES`, pino's `name`, `npm_package_name`",
    meaning: 'name of the service that logs',
  }),
  environment: app({
    kind: text,
    defaultText: '`deployment.environment.name`, `NODE_ENV`',
    meaning: 'environment label',
  }),
  version: app({
    kind: text,
    defaultText: '`service.version`, `npm_package_version`',
    meaning: 'version of the application',
  }),
  tags: app({ kind: texts, default: [], meaning: 'added to every entry; the variable is a comma-separated list' }),
  metadata: app<JsonObject>({
    kind: object,
    default: {},
    meaning: 'added to every entry, with [attributes of the environment](containers.md); the variable is JSON',
  }),
  deploy: app({
    kind: group({
      commit: { kind: text, variables: ['PINO_INGEST_COMMIT'] },
      branch: { kind: text, variables: ['PINO_INGEST_BRANCH'] },
      deployed_by: { kind: text, variables: ['PINO_INGEST_DEPLOYED_BY'] },
    }),
    defaultText: "the CI provider's variables",
    meaning: '`{ commit, branch, deployed_by }`, for every entry',
  }),
  release: app({
    kind: release,
    variables: ['PINO_INGEST_RELEASE_ID', 'PINO_INGEST_RELEASE'],
    variableKinds: { PINO_INGEST_RELEASE: flag },
    default: false,
    meaning:
      '`true`: registers the release at start, and every entry carries its id; a string: the id of a registered release',
  }),
  level: sent({
    kind: oneOf(...LEVEL_NAMES),
    default: 'info',
    meaning: "lowest level that is sent; pino's own levels decide what is received",
  }),
  sample: sent({
    kind: group({
      debug: { kind: share },
      info: { kind: share },
      warn: { kind: share },
      error: { kind: share },
      fatal: { kind: share },
    }),
    defaultText: 'all',
    meaning:
      '`{ debug: 0.1 }`: the share of a level that is sent; within a level, the records of a trace are kept or filtered together',
  }),
  dedupeWindowMs: sent({
    kind: integer(0, DAY_MS, 'ms'),
    default: 0,
    meaning:
      'window in which the first of equal errors is sent, and one summary at its end counts the others; 0 disables it',
  }),
  breadcrumbs: sent({
    kind: switchable({
      enabled: { kind: flag, variables: [], default: true },
      limit: {
        kind: integer(1, 1_000),
        default: 50,
        meaning: 'maximum number kept for each request, trace or session, and attached to an entry',
      },
      level: { kind: oneOf(...LEVEL_NAMES), default: 'debug', meaning: 'lowest level that becomes a breadcrumb' },
      maxBytes: {
        kind: integer(64 * 1024, 1024 * MIB, 'bytes'),
        default: 8 * MIB,
        meaning: 'maximum memory for all breadcrumbs',
      },
    }),
    defaultText: 'on',
    meaning: 'attaches the records logged before an error to its entry; `false` for none',
  }),
  requestLogs: sent({
    kind: switchable(
      {
        enabled: { kind: flag, variables: [], default: false },
        only: { kind: flag, default: false, meaning: 'finished HTTP requests are not sent as log entries as well' },
        keys: {
          kind: group({
            req: { kind: text, default: 'req' },
            res: { kind: text, default: 'res' },
            responseTime: { kind: text, default: 'responseTime' },
            reqId: { kind: text, default: 'reqId' },
          }),
          defaultText: '`req`, `res`, `responseTime`, `reqId`',
          meaning:
            "`{ req, res, responseTime, reqId }`: pino-http's `customAttributeKeys`, Fastify's `requestIdLogLabel`; log entries use these names even if `enabled` is `false`",
        },
      },
      { words: { only: { only: true } }, hint: ' or only; in code { only: true }' },
    ),
    defaultText: 'off',
    meaning: '`true`: HTTP records are also sent to request analytics; the variable may be `only`',
  }),
  fingerprint: sent({
    kind: oneOf('auto', false),
    default: false,
    meaning: '`auto` computes one for errors; the service uses it for de-duplication',
  }),
  beforeSend: sent({
    kind: hook,
    meaning:
      'path of a module whose default export takes an entry and returns one, or `null` to drop it; for `ingestStream()` also the function itself',
  }),
  scrub: sent({
    kind: group({
      patterns: {
        kind: scrubPatterns,
        default: [],
        meaning:
          "patterns that are removed from every text: `email`, `creditCard`, `ssn`, `bearer`, or a regular expression's source",
      },
      urlParams: {
        kind: texts,
        default: ['token', 'password', 'secret', 'authorization', 'api_key', 'access_token'],
        meaning: 'parameters whose value is removed from every URL',
      },
    }),
    meaning: 'what else to remove, in addition to the built-in rules',
  }),
  maxEntryBytes: sent({
    kind: integer(1_024, LARGEST_ENTRY_BYTES, 'bytes'),
    default: 256 * 1024,
    meaning: 'a longer entry is shortened and flagged',
  }),
  batch: delivery({
    kind: group({
      size: {
        kind: integer(1, MAX_LOGS_PER_REQUEST),
        default: MAX_LOGS_PER_REQUEST,
        meaning: 'maximum number of entries in a request',
      },
      bytes: {
        kind: integer(1_024, LARGEST_BATCH_BYTES, 'bytes'),
        default: MIB,
        meaning: 'maximum size of a request body; a longer entry is sent alone',
      },
      intervalMs: {
        kind: integer(1, DAY_MS, 'ms'),
        variables: ['PINO_INGEST_FLUSH_INTERVAL_MS'],
        default: 1_000,
        meaning:
          'maximum time that an entry waits for its batch; 50 ms for the first batch after a pause, 20 ms for the first batch of a process',
      },
    }),
    meaning: 'limits of a batch (one request)',
  }),
  maxConcurrency: delivery({
    kind: integer(1, 256),
    defaultText: '128; 8 with `nats`',
    meaning:
      'maximum number of requests in flight: 1 when idle, more while entries wait and the service keeps up, fewer when it is slow or overloaded; 1 keeps the order',
  }),
  requestTimeoutMs: delivery({
    kind: integer(100, 600_000, 'ms'),
    default: 10_000,
    meaning: 'time limit of a whole request, including at most 3 s to connect',
  }),
  retry: delivery({
    kind: group({
      minMs: {
        kind: integer(1, DAY_MS, 'ms'),
        default: 250,
        meaning: 'upper bound of the first retry delay, which is random; it doubles with each failure',
      },
      maxMs: {
        kind: integer(1, DAY_MS, 'ms'),
        default: 30_000,
        meaning:
          'maximum retry delay. The limit is 5 s for the first 20 s of an outage, then a quarter of its duration, up to this value',
      },
    }),
    meaning: 'delays between attempts; the number of attempts is unlimited',
  }),
  shutdownTimeoutMs: delivery({
    kind: integer(0, 8_000, 'ms'),
    default: 3_000,
    meaning: 'time limit for delivery at exit; pino itself waits at most 10 s',
  }),
  logTo: delivery({
    kind: oneOf('stderr', 'silent'),
    variables: ['PINO_INGEST_LOG'],
    default: 'stderr',
    meaning: 'where the transport reports problems',
  }),
  spool: keeping({
    kind: switchable(
      {
        enabled: { kind: flag, variables: [] },
        dir: { kind: path, defaultText: '`<tmp>/pino-ingest-<uid>`', meaning: 'directory of the spool' },
        maxBytes: {
          kind: integer(MIB, 1024 * 1024 * MIB, 'bytes'),
          default: 256 * MIB,
          meaning: 'size of the folder, for all processes that write to it',
        },
        maxAgeMs: {
          kind: integer(1_000, 3_650 * DAY_MS, 'ms'),
          variables: ['PINO_INGEST_SPOOL_MAX_AGE'],
          default: 7 * DAY_MS,
          meaning: 'entries are deleted at this age',
        },
        durability: {
          kind: oneOf('process', 'power'),
          default: 'process',
          meaning:
            'what stored entries survive: the end of the process, or a power failure (except for the last second)',
        },
      },
      { hint: '; PINO_INGEST_SPOOL_DIR names the path' },
    ),
    defaultText: 'on, but off for the local service',
    meaning: 'stores entries on disk until they are acknowledged; `false` for none',
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
  pino: reading({
    kind: group({
      messageKey: {
        kind: text,
        variables: ['PINO_INGEST_MESSAGE_KEY'],
        defaultText: "pino's",
        meaning: 'needed for the pipe and `ingestStream()`, since pino does not pass its configuration to them',
      },
      errorKey: {
        kind: text,
        variables: ['PINO_INGEST_ERROR_KEY'],
        defaultText: "pino's",
        meaning: 'as `messageKey`',
      },
      nestedKey: {
        kind: text,
        variables: ['PINO_INGEST_NESTED_KEY'],
        meaning: 'pino does not pass this to transports; `ingestOptions()` does',
      },
      customLevels: {
        kind: levels,
        variables: ['PINO_INGEST_CUSTOM_LEVELS'],
        defaultText: "pino's",
        meaning: 'as `messageKey`; `{ audit: 35 }`, in the variable `audit:35`',
      },
      levelKey: {
        kind: text,
        variables: ['PINO_INGEST_LEVEL_KEY'],
        meaning: 'key of the level, if `formatters.level` uses another than `level` or `severity`',
      },
    }),
    meaning: 'options that you also give to pino',
  }),
} as const

export type OptionName = keyof typeof OPTION_TABLE

type ValueOf<R> = R extends OptionRow<infer T> ? T : never

/** Groups that can be switched with `true` and `false` are read as objects. */
type ReadOf<T> = Extract<T, object> extends never ? T : Extract<T, object>

/** The values after reading. */
export type OptionValues = {
  -readonly [Name in OptionName]?: ReadOf<ValueOf<(typeof OPTION_TABLE)[Name]>> | undefined
}

/** The options that can be set in code; see docs/options.md. */
export type IngestOptions = { -readonly [Name in OptionName]?: ValueOf<(typeof OPTION_TABLE)[Name]> | undefined }

export function rowOf(name: OptionName): OptionRow<unknown> {
  return OPTION_TABLE[name] as OptionRow<unknown>
}

/** The variables of the option itself. */
export function variablesOf(name: OptionName): readonly string[] {
  return variablesAt(rowOf(name), name)
}

interface PathRow {
  /** `batch.size` */
  readonly path: string
  readonly row: Row<unknown>
}

/** An option and its members, at all depths. */
export function pathsOf(name: OptionName): PathRow[] {
  return pathsAt({ path: name, row: rowOf(name) })
}

function pathsAt(one: PathRow): PathRow[] {
  const members = Object.entries(one.row.kind.members ?? {})
  return [one, ...members.flatMap(([name, row]) => pathsAt({ path: `${one.path}.${name}`, row }))]
}

/** The variables of the option and of its members. */
export function allVariablesOf(name: OptionName): readonly string[] {
  return pathsOf(name).flatMap(({ path: at, row }) => variablesAt(row, at))
}

/** What most applications set; the README lists it first. */
const USUAL: readonly string[] = [
  'url',
  'apiKey',
  'service',
  'environment',
  'tags',
  'level',
  'breadcrumbs',
  'requestLogs',
  'scrub.patterns',
  'spool',
  'shutdownTimeoutMs',
  'logTo',
]

/** The README's table: the usual options, of which none has a link. */
export function usualOptionsMarkdown(): string {
  return tableOf(
    (Object.keys(OPTION_TABLE) as OptionName[]).flatMap(pathsOf).filter(({ path: at }) => USUAL.includes(at)),
  )
}

/** The tables of docs/options.md: all options by section. */
export function optionsMarkdown(): string {
  return SECTIONS.map((title) => {
    const own = (Object.keys(OPTION_TABLE) as OptionName[]).filter((name) => rowOf(name).section === title)
    return `## ${title}\n\n${tableOf(own.flatMap(pathsOf))}`
  }).join('\n\n')
}

function tableOf(rows: readonly PathRow[]): string {
  const lines = rows.filter(({ row }) => row.meaning !== undefined).map(markdownOf)
  return ['| option | variables | default | meaning |', '|---|---|---|---|', ...lines].join('\n')
}

function markdownOf(one: PathRow): string {
  const { kind, default: value, defaultText, meaning } = one.row
  const shown = value === undefined ? 'none' : `\`${JSON.stringify(value).replaceAll('"', "'")}\``
  const defaultCell = defaultText ?? (kind.members === undefined ? shown : '')
  const rule = /^(?:an integer|one of)/.test(kind.rule) ? `; ${kind.rule}` : ''
  const variables = shownVariables(one).map((variable) => `\`${variable}\``)
  return `| \`${one.path}\` | ${variables.join(', ')} | ${defaultCell} | ${meaning}${rule} |`
}

/** Also those of members that have no row of their own. */
function shownVariables({ path: at, row }: PathRow): string[] {
  const parts = Object.entries(row.kind.members ?? {}).filter(([, member]) => member.meaning === undefined)
  return [
    ...variablesAt(row, at),
    ...parts.flatMap(([name, member]) => shownVariables({ path: `${at}.${name}`, row: member })),
  ]
}
