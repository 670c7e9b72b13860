/**
 * The options that can be set in code. Generated from the table of options (`option-table.ts`) by `npm run docs`: change the table.
 */
import type { JsonObject } from '../protocol/log-entry.js'
import type { BeforeSend } from './kinds.js'
import type { PatternList } from './option-group.js'

/**
 * Options of the transport and of `ingestStream()`, listed in `docs/options.md`. Options can also be set with environment variables; a value
 * in code wins. All are optional. In production `url` or `nats` is required. `apiKey` is required unless the host of `url` is loopback.
 */
export interface IngestOptions {
  /**
   * `false`: all records are discarded; nothing is sent or stored.
   * Variable: `PINO_INGEST_ENABLED`.
   * @default true
   */
  enabled?: boolean | undefined
  /**
   * Base URL of the log service, ending with `/api/v1`; plain `http` only to a loopback host, or with `allowInsecure`.
   * Variable: `PINO_INGEST_URL`.
   * @default none. Without url and nats entries are discarded; in production the transport does not start
   */
  url?: string | undefined
  /**
   * Key sent as `X-API-Key`; `PINO_INGEST_API_KEY_FILE` is the path of a file, read again when the log service rejects the key. Printable
   * ASCII characters without spaces.
   * Variables, the first that is set: `PINO_INGEST_API_KEY`, `PINO_INGEST_API_KEY_FILE`.
   * @default none; required unless the host of url is loopback
   */
  apiKey?: string | undefined
  /**
   * Allows plain `http` to a host other than loopback.
   * Variable: `PINO_INGEST_ALLOW_INSECURE`.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /**
   * `{ ca, cert, key }` as PEM: a private CA, a client certificate and its key.
   * @default Node's own
   */
  tls?:
    | {
        /**
         * Certificates of the CAs to trust, in place of those that Node trusts. PEM text, or a Buffer of it.
         * Variable: `PINO_INGEST_TLS_CA_FILE` (path of a file).
         * @default Node's own
         */
        ca?: string | Uint8Array | undefined
        /**
         * Client certificate, used with `key`. PEM text, or a Buffer of it.
         * Variable: `PINO_INGEST_TLS_CERT_FILE` (path of a file).
         */
        cert?: string | Uint8Array | undefined
        /**
         * Private key of `cert`, not encrypted. PEM text, or a Buffer of it.
         * Variable: `PINO_INGEST_TLS_KEY_FILE` (path of a file).
         */
        key?: string | Uint8Array | undefined
      }
    | undefined
  /**
   * NATS JetStream as a durable queue between many processes and the log service.
   */
  nats?:
    | {
        /**
         * Servers of NATS JetStream, such as `tls://nats.example.com:4222`, in place of `url` and `apiKey`: a fleet (`docs/fleet.md`).
         * Variable: `PINO_INGEST_NATS_SERVERS` (separated by commas, or JSON).
         */
        servers?: readonly string[] | undefined
        /**
         * Content of a `.creds` file, or the seed of an NKey (`SU…`).
         * Variable: `PINO_INGEST_NATS_CREDENTIALS_FILE` (path of a file).
         */
        credentials?: string | Uint8Array | undefined
        /**
         * As `tls`, for the NATS servers.
         * @default Node's own
         */
        tls?:
          | {
              /**
               * Certificates of the CAs to trust, in place of those that Node trusts. PEM text, or a Buffer of it.
               * Variable: `PINO_INGEST_NATS_TLS_CA_FILE` (path of a file).
               * @default Node's own
               */
              ca?: string | Uint8Array | undefined
              /**
               * Client certificate, used with `key`. PEM text, or a Buffer of it.
               * Variable: `PINO_INGEST_NATS_TLS_CERT_FILE` (path of a file).
               */
              cert?: string | Uint8Array | undefined
              /**
               * Private key of `cert`, not encrypted. PEM text, or a Buffer of it.
               * Variable: `PINO_INGEST_NATS_TLS_KEY_FILE` (path of a file).
               */
              key?: string | Uint8Array | undefined
            }
          | undefined
        /**
         * Name of the stream; subjects are `<stream>.logs` and `<stream>.requests`. A name of letters, digits, - and _.
         * Variable: `PINO_INGEST_NATS_STREAM`.
         * @default 'PINO_INGEST'
         */
        stream?: string | undefined
      }
    | undefined
  /**
   * URL of an HTTP proxy; `false` for none.
   * Variable: `PINO_INGEST_PROXY`.
   * @default HTTPS_PROXY or HTTP_PROXY, and NO_PROXY
   */
  proxy?: string | false | undefined
  /**
   * HTTP headers sent with every request, `{ name: value }`; the variable is JSON.
   * Variable: `PINO_INGEST_HEADERS`.
   */
  headers?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Service name: the application that logs.
   * Variables, the first that is set: `PINO_INGEST_SERVICE`, `OTEL_SERVICE_NAME`.
   * @default service.name of OTEL_RESOURCE_ATTRIBUTES, pino's name, the name in package.json
   */
  service?: string | undefined
  /**
   * Environment, such as `production`.
   * Variable: `PINO_INGEST_ENVIRONMENT`.
   * @default deployment.environment.name of OTEL_RESOURCE_ATTRIBUTES, NODE_ENV
   */
  environment?: string | undefined
  /**
   * Version of the application.
   * Variable: `PINO_INGEST_VERSION`.
   * @default service.version of OTEL_RESOURCE_ATTRIBUTES, the version in package.json
   */
  version?: string | undefined
  /**
   * Tags added to every entry; the variable is a comma-separated list.
   * Variable: `PINO_INGEST_TAGS`.
   * @default []
   */
  tags?: readonly string[] | undefined
  /**
   * Fields added to the `metadata` of every entry, with attributes of the environment (`docs/containers.md`); the variable is JSON.
   * Variable: `PINO_INGEST_METADATA`.
   * @default {}
   */
  metadata?: JsonObject | undefined
  /**
   * Information on the deployment, `{ commit, branch, deployed_by }`, added to every entry.
   * Variable: `PINO_INGEST_DEPLOY` (JSON).
   * @default the CI provider's variables
   */
  deploy?:
    | {
        /**
         * Hash of the commit.
         * Variable: `PINO_INGEST_DEPLOY_COMMIT`.
         * @default the CI provider's variable
         */
        commit?: string | undefined
        /**
         * Name of the branch.
         * Variable: `PINO_INGEST_DEPLOY_BRANCH`.
         * @default the CI provider's variable
         */
        branch?: string | undefined
        /**
         * User or system that started the deployment.
         * Variable: `PINO_INGEST_DEPLOY_DEPLOYED_BY`.
         * @default the CI provider's variable
         */
        deployed_by?: string | undefined
      }
    | undefined
  /**
   * Id of a registered release, added to every entry.
   * Variable: `PINO_INGEST_RELEASE_ID`.
   */
  releaseId?: string | undefined
  /**
   * Registers the release at startup, and adds its id to every later entry.
   * Variable: `PINO_INGEST_REGISTER_RELEASE`.
   * @default false
   */
  registerRelease?: boolean | undefined
  /**
   * Lowest level to send; pino's own `level` is applied before it.
   * Variable: `PINO_INGEST_SEND_LEVEL`.
   * @default 'info'
   */
  sendLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | undefined
  /**
   * Share of the records that is sent, by level: `{ debug: 0.1 }`; records of one trace stay together.
   * Variable: `PINO_INGEST_SAMPLE` (JSON).
   * @default all
   */
  sample?:
    | {
        /**
         * Share of the records of this level that is sent. A number from 0 to 1.
         * Variable: `PINO_INGEST_SAMPLE_DEBUG`.
         * @default 1
         */
        debug?: number | undefined
        /**
         * Share of the records of this level that is sent. A number from 0 to 1.
         * Variable: `PINO_INGEST_SAMPLE_INFO`.
         * @default 1
         */
        info?: number | undefined
        /**
         * Share of the records of this level that is sent. A number from 0 to 1.
         * Variable: `PINO_INGEST_SAMPLE_WARN`.
         * @default 1
         */
        warn?: number | undefined
        /**
         * Share of the records of this level that is sent. A number from 0 to 1.
         * Variable: `PINO_INGEST_SAMPLE_ERROR`.
         * @default 1
         */
        error?: number | undefined
        /**
         * Share of the records of this level that is sent. A number from 0 to 1.
         * Variable: `PINO_INGEST_SAMPLE_FATAL`.
         * @default 1
         */
        fatal?: number | undefined
      }
    | undefined
  /**
   * Of equal errors within this time, sends the first and a summary; `0` sends all. In milliseconds, from 0 to 86400000 (1 day).
   * Variable: `PINO_INGEST_DEDUPE_WINDOW_MS`.
   * @default 0
   */
  dedupeWindowMs?: number | undefined
  /**
   * Attaches the records logged before an error to its entry; `false` disables it.
   * Variable: `PINO_INGEST_BREADCRUMBS` (JSON).
   * @default on
   */
  breadcrumbs?:
    | boolean
    | {
        /**
         * `false`: no record becomes a breadcrumb.
         * @default true
         */
        enabled?: boolean | undefined
        /**
         * Maximum number kept per request, trace or session, and attached to an entry. An integer from 1 to 1000.
         * Variable: `PINO_INGEST_BREADCRUMBS_LIMIT`.
         * @default 50
         */
        limit?: number | undefined
        /**
         * Lowest level that becomes a breadcrumb.
         * Variable: `PINO_INGEST_BREADCRUMBS_LEVEL`.
         * @default 'debug'
         */
        level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | undefined
      }
    | undefined
  /**
   * `true`: also sends finished HTTP requests to request analytics; `'only'`: sends a log entry only for errors.
   * Variable: `PINO_INGEST_REQUEST_LOGS` (JSON).
   * @default off
   */
  requestLogs?:
    | boolean
    | 'only'
    | {
        /**
         * `true`: finished HTTP requests are sent to request analytics; implied by any other member.
         * @default false
         */
        enabled?: boolean | undefined
        /**
         * `true`: finished HTTP requests are sent as log entries only for errors.
         * Variable: `PINO_INGEST_REQUEST_LOGS_ONLY`.
         * @default false
         */
        only?: boolean | undefined
        /**
         * Paths that are not sent to request analytics, such as `/health` and `/internal/*`.
         * Variable: `PINO_INGEST_REQUEST_LOGS_IGNORE` (separated by commas, or JSON).
         * @default []
         */
        ignore?: readonly string[] | undefined
      }
    | undefined
  /**
   * `true`: entries with an error get a computed fingerprint (`docs/sampling.md`), by which the log service groups them.
   * Variable: `PINO_INGEST_FINGERPRINT`.
   * @default false
   */
  fingerprint?: boolean | undefined
  /**
   * Path of a module (`docs/sampling.md`) that changes or drops entries; for `ingestStream()` also the function itself.
   * Variable: `PINO_INGEST_BEFORE_SEND`.
   */
  beforeSend?: string | BeforeSend | undefined
  /**
   * What to remove in addition to the built-in rules; a list is short for `patterns`.
   * Variable: `PINO_INGEST_SCRUB` (JSON).
   * @default { patterns: [], keys: ['password', 'passwd', 'secret', 'token', 'access_token', 'refresh_token', 'api_key', 'apikey',
   * 'authorization', 'cookie', 'client_secret', 'private_key'] }
   */
  scrub?:
    | PatternList
    | {
        /**
         * Patterns removed from every text: `email`, `creditCard`, `ssn`, `bearer`, or a regular expression's source.
         * Variable: `PINO_INGEST_SCRUB_PATTERNS` (separated by commas, or JSON).
         * @default []
         */
        patterns?: readonly string[] | undefined
        /**
         * Names added to the built-in ones: their values are replaced, at any depth and in URL parameters; `[]` for none.
         * Variable: `PINO_INGEST_SCRUB_KEYS`.
         * @default ['password', 'passwd', 'secret', 'token', 'access_token', 'refresh_token', 'api_key', 'apikey', 'authorization',
         * 'cookie', 'client_secret', 'private_key']
         */
        keys?: readonly string[] | undefined
      }
    | undefined
  /**
   * Maximum size of an entry; a longer one is shortened and flagged. In bytes, from 1 KiB to 16 MiB.
   * Variable: `PINO_INGEST_MAX_ENTRY_BYTES`.
   * @default 262144 (256 KiB)
   */
  maxEntryBytes?: number | undefined
  /**
   * Limits of a batch (one request).
   * Variable: `PINO_INGEST_BATCH` (JSON).
   * @default { size: 100, intervalMs: 1000 }
   */
  batch?:
    | {
        /**
         * Maximum number of entries in a request. An integer from 1 to 100.
         * Variable: `PINO_INGEST_BATCH_SIZE`.
         * @default 100
         */
        size?: number | undefined
        /**
         * Maximum time that an entry waits for its batch; less for the first batches. In milliseconds, from 1 to 86400000 (1 day).
         * Variable: `PINO_INGEST_BATCH_INTERVAL_MS`.
         * @default 1000
         */
        intervalMs?: number | undefined
      }
    | undefined
  /**
   * Upper limit of concurrent requests; the number in use adapts to the load. With 1, entries arrive in order. An integer from 1 to 256.
   * Variable: `PINO_INGEST_MAX_CONCURRENCY`.
   * @default 32; 8 with nats
   */
  maxConcurrency?: number | undefined
  /**
   * Time limit of a whole request, including at most 3 s to connect. In milliseconds, from 100 to 600000.
   * Variable: `PINO_INGEST_REQUEST_TIMEOUT_MS`.
   * @default 10000
   */
  requestTimeoutMs?: number | undefined
  /**
   * Delays between attempts; the number of attempts is unlimited.
   * Variable: `PINO_INGEST_RETRY` (JSON).
   * @default { maxMs: 30000 }
   */
  retry?:
    | {
        /**
         * Maximum delay between two attempts; delays are random and grow from 250 ms. In milliseconds, from 1 to 86400000 (1 day).
         * Variable: `PINO_INGEST_RETRY_MAX_MS`.
         * @default 30000
         */
        maxMs?: number | undefined
      }
    | undefined
  /**
   * Time limit for delivery at exit. In milliseconds, from 0 to 8000.
   * Variable: `PINO_INGEST_SHUTDOWN_TIMEOUT_MS`.
   * @default 3000
   */
  shutdownTimeoutMs?: number | undefined
  /**
   * `stderr`: reports problems on stderr; `silent`: nothing; `debug`: also each batch, reply, wait and decision.
   * Variable: `PINO_INGEST_LOG_TO`.
   * @default 'stderr'
   */
  logTo?: 'stderr' | 'silent' | 'debug' | undefined
  /**
   * Stores entries on disk until they are acknowledged; `false` keeps them in memory; a path is short for `dir`.
   * Variable: `PINO_INGEST_SPOOL` (JSON).
   * @default on
   */
  spool?:
    | boolean
    | string
    | {
        /**
         * `false`: entries are kept in memory only.
         * @default true
         */
        enabled?: boolean | undefined
        /**
         * Directory of the spool.
         * Variable: `PINO_INGEST_SPOOL_DIR`.
         * @default <tmp>/pino-ingest-<uid>
         */
        dir?: string | undefined
        /**
         * Maximum size of the directory, for all processes that write to it. In bytes, from 1 MiB to 1 TiB.
         * Variable: `PINO_INGEST_SPOOL_MAX_BYTES`.
         * @default 268435456 (256 MiB)
         */
        maxBytes?: number | undefined
        /**
         * Age at which entries are deleted. In milliseconds, from 1000 to 315360000000 (3650 days).
         * Variable: `PINO_INGEST_SPOOL_MAX_AGE_MS`.
         * @default 604800000 (7 days)
         */
        maxAgeMs?: number | undefined
        /**
         * `process`: stored entries survive the exit of the process; `power`: also a power failure, except for the last second.
         * Variable: `PINO_INGEST_SPOOL_DURABILITY`.
         * @default 'process'
         */
        durability?: 'process' | 'power' | undefined
      }
    | undefined
  /**
   * Maximum memory for entries that are not yet acknowledged. In bytes, from 1 MiB to 1 GiB.
   * Variable: `PINO_INGEST_MAX_BUFFER_BYTES`.
   * @default 8 MiB with a spool, 64 MiB without
   */
  maxBufferBytes?: number | undefined
  /**
   * Former keys: entries stored under them are sent with the current key; the variable is a comma-separated list.
   * Variable: `PINO_INGEST_PREVIOUS_API_KEYS`.
   */
  previousApiKeys?: readonly string[] | undefined
  /**
   * `messageKey`, `errorKey`, `nestedKey`, `customLevels` and `customAttributeKeys` of pino and pino-http; needed for `ingestStream()`, the
   * pipe and plain `pino({ transport })`.
   * Variable: `PINO_INGEST_PINO` (JSON).
   */
  pino?:
    | {
        /** As in the options of pino or pino-http. */
        messageKey?: string | undefined
        /** As in the options of pino or pino-http. */
        errorKey?: string | undefined
        /** As in the options of pino or pino-http. */
        nestedKey?: string | undefined
        /** As in the options of pino or pino-http. */
        customLevels?: Readonly<Record<string, number>> | undefined
        /** As in the options of pino or pino-http. */
        customAttributeKeys?:
          | {
              /** As in the options of pino or pino-http. */
              req?: string | undefined
              /** As in the options of pino or pino-http. */
              res?: string | undefined
              /** As in the options of pino or pino-http. */
              err?: string | undefined
              /** As in the options of pino or pino-http. */
              reqId?: string | undefined
              /** As in the options of pino or pino-http. */
              responseTime?: string | undefined
            }
          | undefined
      }
    | undefined
}
