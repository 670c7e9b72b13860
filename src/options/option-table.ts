/** The table of options: the source of their types, variables, defaults and rules, of `docs/options.md`, and of `options-interface.ts`. */
import type { JsonObject } from '../protocol/log-entry.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'
import {
  fieldNames,
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
  requestPaths,
  share,
  text,
  texts,
} from './kinds.js'
import type { Row } from './kinds.js'
import { headers } from './headers.js'
import { group, switchable, findVariables } from './option-group.js'
import { natsCredentials, streamName, subjectPrefix } from './nats-settings.js'
import { scrubPatterns } from './scrub-patterns.js'
import { LARGEST_BATCH_BYTES, LARGEST_ENTRY_BYTES } from './size-limits.js'

export type OptionRow<T> = Row<T> & {
  /** The table of docs/options.md that lists it. */
  readonly section: Section
}

/** In the order of the tables in docs/options.md. */
export const SECTIONS = [
  'Connection',
  'About the application',
  'What is sent',
  'Delivery',
  'Memory and disk',
  'How records are read',
] as const
export type Section = (typeof SECTIONS)[number]

function rowsOf(section: Section) {
  return <const T>(settings: Row<T>): OptionRow<T> => ({ section, ...settings })
}

const connection = rowsOf('Connection')
const app = rowsOf('About the application')
const sent = rowsOf('What is sent')
const delivery = rowsOf('Delivery')
const keeping = rowsOf('Memory and disk')
const reading = rowsOf('How records are read')

const MIB = 1024 * 1024
const DAY_MS = 86_400_000
/** Names of `scrub.keys`; many are also those of headers. */
const SECRET_KEYS: readonly string[] =
  'password passwd secret token access_token refresh_token api_key apikey authorization cookie client_secret private_key'.split(
    ' ',
  )
export const LEVEL_NAMES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

const PEM_MEMBERS = {
  ca: {
    kind: pem,
    isFile: true,
    secret: true,
    defaultText: "Node's own",
    isInGroupRow: true,
    meaning: 'certificates of the CAs to trust, in place of those that Node trusts',
  },
  cert: { kind: pem, isFile: true, secret: true, isInGroupRow: true, meaning: 'client certificate, used with `key`' },
  key: { kind: pem, isFile: true, secret: true, isInGroupRow: true, meaning: 'private key of `cert`, not encrypted' },
} as const

const SAMPLE_MEMBER = {
  kind: share,
  defaultText: '1',
  isInGroupRow: true,
  meaning: 'share of the records of this level that is sent',
} as const

export const OPTION_TABLE = {
  enabled: connection({
    kind: flag,
    default: true,
    meaning: '`false`: all records are discarded; nothing is sent or stored',
  }),
  url: connection({
    kind: text,
    defaultText: '`http://127.0.0.1:4319/api/v1` (the local service); none in production',
    meaning:
      'base URL of the service, ending with `/api/v1`. Required if `NODE_ENV` is `production`. Must be `https`, unless the host is loopback or `allowInsecure` is set',
  }),
  apiKey: connection({
    kind: key,
    variables: ['PINO_INGEST_API_KEY', 'PINO_INGEST_API_KEY_FILE'],
    secret: true,
    defaultText: 'none; required if `url` is set',
    meaning:
      'key that is sent as `X-API-Key`, only to the configured `url`; `PINO_INGEST_API_KEY_FILE` is the path of a file that contains it, which is read again when the service rejects the key. If both are set, the file must contain the same key and is read only at the start',
  }),
  allowInsecure: connection({
    kind: flag,
    default: false,
    meaning: 'allows plain `http` to a host other than loopback',
  }),
  tls: connection({
    kind: group(PEM_MEMBERS),
    variables: [],
    secret: true,
    defaultText: "Node's own",
    meaning:
      '`{ ca, cert, key }` as PEM: a private CA, a client certificate and its key; the variables are paths of files',
  }),
  nats: connection({
    kind: group({
      servers: {
        kind: texts,
        secret: true,
        meaning:
          'servers of NATS JetStream, such as `tls://nats.example.com:4222`. Batches are published there and `pino-ingest forward` sends them to the service; `url` and `apiKey` are not used. See [a fleet](fleet.md)',
      },
      credentials: {
        kind: natsCredentials,
        variables: ['PINO_INGEST_NATS_CREDS'],
        isFile: true,
        secret: true,
        meaning: 'content of a `.creds` file, or the seed of an NKey (`SU…`); the variable is the path of a file',
      },
      tls: {
        kind: group(PEM_MEMBERS),
        variables: [],
        secret: true,
        defaultText: "Node's own",
        meaning: 'as `tls`, for the NATS servers',
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
    meaning: 'NATS JetStream as a durable queue between many processes and the service',
  }),
  proxy: connection({
    kind: proxyUrl,
    secret: true,
    defaultText: '`HTTPS_PROXY` or `HTTP_PROXY`, except for loopback and hosts in `NO_PROXY`',
    meaning:
      'URL of an HTTP proxy, used only if `url` is set; `false` for none. `NO_PROXY` is a list of `*`, addresses and host names, each optionally with a port; a host name includes its subdomains. Address ranges and `ALL_PROXY` are ignored',
  }),
  headers: connection({
    kind: headers,
    secret: true,
    defaultText: 'none',
    meaning:
      'HTTP headers, `{ name: value }`, sent with every request, only to the configured `url`; the variable is JSON',
  }),
  compression: connection({
    kind: oneOf('none', 'gzip'),
    default: 'none',
    meaning:
      "compression of request bodies. Set `gzip` only if your service supports it; the service's interface does not specify it",
  }),
  service: app({
    kind: text,
    variables: ['PINO_INGEST_SERVICE', 'OTEL_SERVICE_NAME'],
    defaultText:
      "`service.name` of `OTEL_RESOURCE_ATTRIBUTES`, pino's `name`, the `name` in the application's `package.json`",
    meaning: 'name of the service that logs',
  }),
  environment: app({
    kind: text,
    defaultText: '`deployment.environment.name` of `OTEL_RESOURCE_ATTRIBUTES`, `NODE_ENV`',
    meaning: 'environment of the application, such as `production`',
  }),
  version: app({
    kind: text,
    defaultText: "`service.version` of `OTEL_RESOURCE_ATTRIBUTES`, the `version` in the application's `package.json`",
    meaning: 'version of the application',
  }),
  tags: app({ kind: texts, default: [], meaning: 'tags added to every entry; the variable is a comma-separated list' }),
  metadata: app<JsonObject>({
    kind: object,
    default: {},
    meaning:
      'fields added to the `metadata` of every entry, with [attributes of the environment](containers.md); the variable is JSON',
  }),
  deploy: app({
    kind: group({
      commit: {
        kind: text,
        variables: ['PINO_INGEST_COMMIT'],
        defaultText: "the CI provider's variable",
        isInGroupRow: true,
        meaning: 'hash of the commit',
      },
      branch: {
        kind: text,
        variables: ['PINO_INGEST_BRANCH'],
        defaultText: "the CI provider's variable",
        isInGroupRow: true,
        meaning: 'name of the branch',
      },
      deployed_by: {
        kind: text,
        variables: ['PINO_INGEST_DEPLOYED_BY'],
        defaultText: "the CI provider's variable",
        isInGroupRow: true,
        meaning: 'user or system that started the deployment',
      },
    }),
    defaultText: "the CI provider's variables",
    meaning: 'information on the deployment, `{ commit, branch, deployed_by }`, added to every entry',
  }),
  release: app({
    kind: release,
    variables: ['PINO_INGEST_RELEASE_ID', 'PINO_INGEST_RELEASE'],
    variableKinds: { PINO_INGEST_RELEASE: flag },
    default: false,
    meaning:
      '`true`: registers the release at startup and adds its id to every entry logged after the reply; a string: the id of a registered release, added to every entry',
  }),
  level: sent({
    kind: oneOf(...LEVEL_NAMES),
    default: 'info',
    meaning: "lowest level to send; pino's own `level` is applied before it",
  }),
  sample: sent({
    kind: group({
      debug: SAMPLE_MEMBER,
      info: SAMPLE_MEMBER,
      warn: SAMPLE_MEMBER,
      error: SAMPLE_MEMBER,
      fatal: SAMPLE_MEMBER,
    }),
    defaultText: 'all',
    meaning:
      'share of the records that is sent, by level: `{ debug: 0.1 }`. Records of the same trace and level are all sent or all filtered',
  }),
  dedupeWindowMs: sent({
    kind: integer(0, DAY_MS, 'ms'),
    default: 0,
    meaning:
      'period in which only the first of equal errors is sent. A summary at its end counts the others. 0 disables it',
  }),
  breadcrumbs: sent({
    kind: switchable({
      enabled: {
        kind: flag,
        variables: [],
        default: true,
        isInGroupRow: true,
        meaning: '`false`: no record becomes a breadcrumb',
      },
      limit: {
        kind: integer(1, 1_000),
        default: 50,
        meaning: 'maximum number of breadcrumbs kept for each request, trace or session, and attached to an entry',
      },
      level: { kind: oneOf(...LEVEL_NAMES), default: 'debug', meaning: 'lowest level that becomes a breadcrumb' },
      maxBytes: {
        kind: integer(64 * 1024, 1024 * MIB, 'bytes'),
        default: 8 * MIB,
        meaning: 'maximum memory for all breadcrumbs',
      },
    }),
    defaultText: 'on',
    meaning: 'attaches the records logged before an error to its entry; `false` disables it',
  }),
  requestLogs: sent({
    kind: switchable(
      {
        enabled: {
          kind: flag,
          variables: [],
          default: false,
          isInGroupRow: true,
          meaning: '`true`: finished HTTP requests are sent to request analytics; implied by any other member',
        },
        only: {
          kind: flag,
          default: false,
          meaning: '`true`: finished HTTP requests are not also sent as log entries',
        },
        ignore: {
          kind: requestPaths,
          default: [],
          meaning:
            'paths whose requests are not sent to request analytics, such as `/health`; `/internal/*` matches all that begin with `/internal/`',
        },
        keys: {
          kind: group({
            req: { kind: text, default: 'req', isInGroupRow: true, meaning: 'key of the request' },
            res: { kind: text, default: 'res', isInGroupRow: true, meaning: 'key of the response' },
            responseTime: {
              kind: text,
              default: 'responseTime',
              isInGroupRow: true,
              meaning: "key of the request's duration in milliseconds",
            },
            reqId: { kind: text, default: 'reqId', isInGroupRow: true, meaning: "key of the request's id" },
          }),
          defaultText: '`req`, `res`, `responseTime`, `reqId`',
          meaning:
            'keys of a request in a record, `{ req, res, responseTime, reqId }`, if `customAttributeKeys` of pino-http or `requestIdLogLabel` of Fastify changes them. Also used for log entries, even if `enabled` is `false`',
        },
      },
      { words: { only: { only: true } }, hint: ' or only; in code { only: true }' },
    ),
    defaultText: 'off',
    meaning:
      '`true` also sends finished HTTP requests to request analytics; `PINO_INGEST_REQUEST_LOGS=only` sends them only there',
  }),
  fingerprint: sent({
    kind: oneOf('auto', false),
    default: false,
    meaning:
      '`auto`: entries with an error get a computed [fingerprint](sampling.md), unless the record has one. The service uses it for de-duplication',
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
          "patterns whose matches are removed from every text: `email`, `creditCard`, `ssn`, `bearer`, or a regular expression's source",
      },
      keys: {
        kind: fieldNames,
        default: SECRET_KEYS,
        meaning:
          'names whose values are replaced at any depth; case, `-` and `_` are ignored, and numbers and booleans are kept',
      },
      urlParams: {
        kind: texts,
        default: ['token', 'password', 'secret', 'authorization', 'api_key', 'access_token'],
        meaning: 'parameters whose values are removed from every URL',
      },
    }),
    meaning: 'what to remove in addition to the built-in rules',
  }),
  maxEntryBytes: sent({
    kind: integer(1_024, LARGEST_ENTRY_BYTES, 'bytes'),
    default: 256 * 1024,
    meaning: 'maximum size of an entry; a longer one is shortened and flagged',
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
    defaultText: '32; 8 with `nats`',
    meaning:
      'maximum number of concurrent requests. The number adapts: 1 when idle, more while entries wait and the service keeps up, fewer when it is slow or overloaded. With 1, entries arrive in order',
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
          'maximum retry delay. In the first 20 s of an outage a delay is at most 5 s, then at most a quarter of its duration, up to this value',
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
    kind: oneOf('stderr', 'silent', 'debug'),
    variables: ['PINO_INGEST_LOG'],
    default: 'stderr',
    meaning:
      'where the transport writes its messages about problems. `debug` adds a line on stderr for each batch, reply, wait and decision, without secrets and entries',
  }),
  spool: keeping({
    kind: switchable(
      {
        enabled: {
          kind: flag,
          variables: [],
          defaultText: '`true`; `false` if neither `url` nor `nats` is set',
          isInGroupRow: true,
          meaning: '`false`: entries are kept in memory only',
        },
        dir: { kind: path, defaultText: '`<tmp>/pino-ingest-<uid>`', meaning: 'directory of the spool' },
        maxBytes: {
          kind: integer(MIB, 1024 * 1024 * MIB, 'bytes'),
          default: 256 * MIB,
          meaning: 'maximum size of the directory, for all processes that write to it',
        },
        maxAgeMs: {
          kind: integer(1_000, 3_650 * DAY_MS, 'ms'),
          variables: ['PINO_INGEST_SPOOL_MAX_AGE'],
          default: 7 * DAY_MS,
          meaning: 'age at which entries are deleted',
        },
        durability: {
          kind: oneOf('process', 'power'),
          default: 'process',
          meaning:
            '`process`: stored entries survive the exit of the process; `power`: also a power failure, except for the last second',
        },
      },
      { hint: '; PINO_INGEST_SPOOL_DIR sets the path' },
    ),
    defaultText: 'on; off if neither `url` nor `nats` is set',
    meaning: 'stores entries on disk until they are acknowledged; `false` keeps them in memory only',
  }),
  maxBufferBytes: keeping({
    kind: integer(MIB, 1024 * MIB, 'bytes'),
    defaultText: '8 MiB with a spool, 64 MiB without',
    meaning: 'maximum memory for entries that are not yet acknowledged',
  }),
  previousApiKeys: keeping({
    kind: keys,
    secret: true,
    defaultText: 'none',
    meaning:
      'former keys. Entries that were stored on disk under them are sent with the current key. A key that a running process replaced by another one from `PINO_INGEST_API_KEY_FILE` need not be listed; the variable is a comma-separated list',
  }),
  pino: reading({
    kind: group({
      messageKey: {
        kind: text,
        variables: ['PINO_INGEST_MESSAGE_KEY'],
        defaultText: "pino's, else `msg`",
        meaning:
          "pino's `messageKey`; needed for the pipe and `ingestStream()`, to which pino does not pass its configuration",
      },
      errorKey: {
        kind: text,
        variables: ['PINO_INGEST_ERROR_KEY'],
        defaultText: "pino's, else `err`",
        meaning: "pino's `errorKey`; needed in the same cases as `messageKey`",
      },
      nestedKey: {
        kind: text,
        variables: ['PINO_INGEST_NESTED_KEY'],
        meaning: "pino's `nestedKey`, which pino does not pass to transports; `ingestOptions()` does",
      },
      customLevels: {
        kind: levels,
        variables: ['PINO_INGEST_CUSTOM_LEVELS'],
        defaultText: "pino's",
        meaning:
          "pino's `customLevels`, such as `{ audit: 35 }`, in the variable `audit:35`; needed in the same cases as `messageKey`",
      },
      levelKey: {
        kind: text,
        variables: ['PINO_INGEST_LEVEL_KEY'],
        meaning: 'key of the level, if `formatters.level` uses another than `level` or `severity`',
      },
    }),
    meaning: "copies of pino's own options; set them to the same values",
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

/** The options that can be set in code. `IngestOptions` is generated, and equal to it (`options-interface.test.ts`). */
export type OptionsOfTable = { -readonly [Name in OptionName]?: ValueOf<(typeof OPTION_TABLE)[Name]> | undefined }

export function findRow(name: OptionName): OptionRow<unknown> {
  return OPTION_TABLE[name] as OptionRow<unknown>
}

/** The variables of the option itself. */
export function listVariables(name: OptionName): readonly string[] {
  return findVariables(findRow(name), name)
}

export interface PathRow {
  /** `batch.size` */
  readonly path: string
  readonly row: Row<unknown>
}

/** An option and its members, at all depths. */
export function listPaths(name: OptionName): PathRow[] {
  return pathsAt({ path: name, row: findRow(name) })
}

function pathsAt(one: PathRow): PathRow[] {
  const members = Object.entries(one.row.kind.members ?? {})
  return [one, ...members.flatMap(([name, row]) => pathsAt({ path: `${one.path}.${name}`, row }))]
}

/** The variables of the option and of its members. */
export function listAllVariables(name: OptionName): readonly string[] {
  return listPaths(name).flatMap(({ path: at, row }) => findVariables(row, at))
}
