/** The table of options: the source of their types, variables, defaults and rules, of `docs/options.md`, and of `options-interface.ts`. */
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
  requestPaths,
  secretKeys,
  SECRET_KEYS,
  share,
  text,
  texts,
} from './kinds.js'
import type { Kind, Row } from './kinds.js'
import { headers } from './headers.js'
import { findVariables, group, onOff, onOffOrOnly, onOffOrPath, patternList } from './option-group.js'
import { natsCredentials, streamName } from './nats-settings.js'
import { scrubPatterns } from './scrub-patterns.js'
import { LARGEST_ENTRY_BYTES } from './size-limits.js'

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

/** Whether a group is on: set by the group's own variable. */
const SWITCH = { kind: flag, variables: [], isInGroupRow: true } as const

const SAMPLE_MEMBER = {
  kind: share,
  defaultText: '1',
  isInGroupRow: true,
  meaning: 'share of the records of this level that is sent',
} as const

function inPino<const T>(kind: Kind<T>): Row<T> {
  return { kind, variables: [], isInGroupRow: true, meaning: 'as in the options of pino or pino-http' }
}

export const OPTION_TABLE = {
  enabled: connection({
    kind: flag,
    default: true,
    meaning: '`false`: all records are discarded; nothing is sent or stored',
  }),
  url: connection({
    kind: text,
    defaultText: 'none. Without `url` and `nats` entries are discarded; in production the transport does not start',
    meaning:
      'base URL of the log service, ending with `/api/v1`; plain `http` only to a loopback host, or with `allowInsecure`',
  }),
  apiKey: connection({
    kind: key,
    variables: ['PINO_INGEST_API_KEY', 'PINO_INGEST_API_KEY_FILE'],
    secret: true,
    defaultText: 'none; required unless the host of `url` is loopback',
    meaning:
      'key sent as `X-API-Key`; `PINO_INGEST_API_KEY_FILE` is the path of a file, read again when the log service rejects the key',
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
    meaning: '`{ ca, cert, key }` as PEM: a private CA, a client certificate and its key',
  }),
  nats: connection({
    kind: group({
      servers: {
        kind: texts,
        secret: true,
        meaning:
          'servers of NATS JetStream, such as `tls://nats.example.com:4222`, in place of `url` and `apiKey`: [a fleet](fleet.md)',
      },
      credentials: {
        kind: natsCredentials,
        isFile: true,
        secret: true,
        meaning: 'content of a `.creds` file, or the seed of an NKey (`SU…`)',
      },
      tls: {
        kind: group(PEM_MEMBERS),
        variables: [],
        secret: true,
        defaultText: "Node's own",
        meaning: 'as `tls`, for the NATS servers',
      },
      stream: {
        kind: streamName,
        default: 'PINO_INGEST',
        meaning: 'name of the stream; subjects are `<stream>.logs` and `<stream>.requests`',
      },
    }),
    variables: [],
    secret: true,
    defaultText: 'none',
    meaning: 'NATS JetStream as a durable queue between many processes and the log service',
  }),
  proxy: connection({
    kind: proxyUrl,
    secret: true,
    defaultText: '`HTTPS_PROXY` or `HTTP_PROXY`, and `NO_PROXY`',
    meaning: 'URL of an HTTP proxy; `false` for none',
  }),
  headers: connection({
    kind: headers,
    secret: true,
    defaultText: 'none',
    meaning: 'HTTP headers sent with every request, `{ name: value }`; the variable is JSON',
  }),
  service: app({
    kind: text,
    variables: ['PINO_INGEST_SERVICE', 'OTEL_SERVICE_NAME'],
    defaultText: "`service.name` of `OTEL_RESOURCE_ATTRIBUTES`, pino's `name`, the `name` in `package.json`",
    meaning: 'service name: the application that logs',
  }),
  environment: app({
    kind: text,
    defaultText: '`deployment.environment.name` of `OTEL_RESOURCE_ATTRIBUTES`, `NODE_ENV`',
    meaning: 'environment, such as `production`',
  }),
  version: app({
    kind: text,
    defaultText: '`service.version` of `OTEL_RESOURCE_ATTRIBUTES`, the `version` in `package.json`',
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
        defaultText: "the CI provider's variable",
        isInGroupRow: true,
        meaning: 'hash of the commit',
      },
      branch: {
        kind: text,
        defaultText: "the CI provider's variable",
        isInGroupRow: true,
        meaning: 'name of the branch',
      },
      deployed_by: {
        kind: text,
        defaultText: "the CI provider's variable",
        isInGroupRow: true,
        meaning: 'user or system that started the deployment',
      },
    }),
    defaultText: "the CI provider's variables",
    meaning: 'information on the deployment, `{ commit, branch, deployed_by }`, added to every entry',
  }),
  releaseId: app({ kind: text, meaning: 'id of a registered release, added to every entry' }),
  registerRelease: app({
    kind: flag,
    default: false,
    meaning: 'registers the release at startup, and adds its id to every later entry',
  }),
  sendLevel: sent({
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
    meaning: 'share of the records that is sent, by level: `{ debug: 0.1 }`; records of one trace stay together',
  }),
  dedupeWindowMs: sent({
    kind: integer(0, DAY_MS, 'ms'),
    default: 0,
    meaning: 'of equal errors within this time, sends the first and a summary; `0` sends all',
  }),
  breadcrumbs: sent({
    kind: group(
      {
        enabled: {
          ...SWITCH,
          default: true,
          meaning: '`false`: no record becomes a breadcrumb',
        },
        limit: {
          kind: integer(1, 1_000),
          default: 50,
          meaning: 'maximum number kept per request, trace or session, and attached to an entry',
        },
        level: { kind: oneOf(...LEVEL_NAMES), default: 'debug', meaning: 'lowest level that becomes a breadcrumb' },
      },
      onOff,
    ),
    defaultText: 'on',
    meaning: 'attaches the records logged before an error to its entry; `false` disables it',
  }),
  requestLogs: sent({
    kind: group(
      {
        enabled: {
          ...SWITCH,
          default: false,
          meaning: '`true`: finished HTTP requests are sent to request analytics; implied by any other member',
        },
        only: {
          kind: flag,
          default: false,
          meaning: '`true`: finished HTTP requests are sent as log entries only for errors',
        },
        ignore: {
          kind: requestPaths,
          default: [],
          meaning: 'paths that are not sent to request analytics, such as `/health` and `/internal/*`',
        },
      },
      onOffOrOnly,
    ),
    defaultText: 'off',
    meaning:
      "`true`: also sends finished HTTP requests to request analytics; `'only'`: sends a log entry only for errors",
  }),
  fingerprint: sent({
    kind: flag,
    default: false,
    meaning:
      '`true`: entries with an error get a computed [fingerprint](sampling.md#repeated-errors), by which the log service groups them',
  }),
  beforeSend: sent({
    kind: hook,
    meaning:
      'path of a [module](sampling.md#beforesend) that changes or drops entries; for `ingestStream()` also the function itself',
  }),
  scrub: sent({
    kind: group(
      {
        patterns: {
          kind: scrubPatterns,
          default: [],
          meaning:
            "patterns removed from every text: `email`, `creditCard`, `ssn`, `bearer`, or a regular expression's source",
        },
        keys: {
          kind: secretKeys,
          default: SECRET_KEYS,
          meaning:
            'names added to the built-in ones: their values are replaced, at any depth and in URL parameters; `[]` for none',
        },
      },
      patternList,
    ),
    meaning: 'what to remove in addition to the built-in rules; a list is short for `patterns`',
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
      intervalMs: {
        kind: integer(1, DAY_MS, 'ms'),
        default: 1_000,
        meaning: 'maximum time that an entry waits for its batch; less for the first batches',
      },
    }),
    meaning: 'limits of a batch (one request)',
  }),
  maxConcurrency: delivery({
    kind: integer(1, 256),
    defaultText: '32; 8 with `nats`',
    meaning:
      'upper limit of concurrent requests; the number in use adapts to the load. With 1, entries arrive in order',
  }),
  requestTimeoutMs: delivery({
    kind: integer(100, 600_000, 'ms'),
    default: 10_000,
    meaning: 'time limit of a whole request, including at most 3 s to connect',
  }),
  retry: delivery({
    kind: group({
      maxMs: {
        kind: integer(1, DAY_MS, 'ms'),
        default: 30_000,
        meaning: 'maximum delay between two attempts; delays are random and grow from 250 ms',
      },
    }),
    meaning: 'delays between attempts; the number of attempts is unlimited',
  }),
  shutdownTimeoutMs: delivery({
    kind: integer(0, 8_000, 'ms'),
    default: 3_000,
    meaning: 'time limit for delivery at exit',
  }),
  logTo: delivery({
    kind: oneOf('stderr', 'silent', 'debug'),
    default: 'stderr',
    meaning:
      '`stderr`: reports problems on stderr; `silent`: nothing; `debug`: also each batch, reply, wait and decision',
  }),
  spool: keeping({
    kind: group(
      {
        enabled: {
          ...SWITCH,
          default: true,
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
      onOffOrPath,
    ),
    defaultText: 'on',
    meaning:
      'stores entries on disk until they are acknowledged; `false` keeps them in memory; a path is short for `dir`',
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
      'former keys: entries stored under them are sent with the current key; the variable is a comma-separated list',
  }),
  pino: reading({
    kind: group({
      messageKey: inPino(text),
      errorKey: inPino(text),
      nestedKey: inPino(text),
      customLevels: inPino(levels),
      customAttributeKeys: inPino(
        group({
          req: inPino(text),
          res: inPino(text),
          err: inPino(text),
          reqId: inPino(text),
          responseTime: inPino(text),
        }),
      ),
    }),
    meaning:
      '`messageKey`, `errorKey`, `nestedKey`, `customLevels` and `customAttributeKeys` of pino and pino-http; needed for `ingestStream()`, the pipe and plain `pino({ transport })`',
  }),
} as const

export type OptionName = keyof typeof OPTION_TABLE

type ValueOf<R> = R extends OptionRow<infer T> ? T : never

/** The short forms of a group are read as objects. */
type ReadOf<T> = [Exclude<Extract<T, object>, readonly unknown[]>] extends [never]
  ? T
  : Exclude<Extract<T, object>, readonly unknown[]>

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
