/**
 * The options that can be set in code. Generated from the table of options (`option-table.ts`) by `npm run docs`: change the table.
 */
import type { JsonObject } from '../protocol/log-entry.js'
import type { BeforeSend } from './kinds.js'

/**
 * Options of the transport and of `ingestStream()`. Each can also be set by its environment variable; a value in code wins.
 * All are optional, except `url` and `apiKey` in production. They are listed in `docs/options.md`.
 */
export interface IngestOptions {
  /**
   * `false`: all records are discarded; nothing is sent or stored.
   * Variable: `PINO_INGEST_ENABLED`.
   * @default true
   */
  enabled?: boolean | undefined
  /**
   * Base URL of the service, ending with `/api/v1`. Required if `NODE_ENV` is `production`. Must be `https`, unless the host is loopback or
   * `allowInsecure` is set.
   * Variable: `PINO_INGEST_URL`.
   * @default http://127.0.0.1:4319/api/v1 (the local service); none in production
   */
  url?: string | undefined
  /**
   * Key that is sent as `X-API-Key`, only to the configured `url`; `PINO_INGEST_API_KEY_FILE` is the path of a file that contains it, which
   * is read again when the service rejects the key. If both are set, the file must contain the same key and is read only at the start.
   * Printable ASCII characters without spaces.
   * Variables, the first that is set: `PINO_INGEST_API_KEY`, `PINO_INGEST_API_KEY_FILE`.
   * @default none; required if url is set
   */
  apiKey?: string | undefined
  /**
   * Allows plain `http` to a host other than loopback.
   * Variable: `PINO_INGEST_ALLOW_INSECURE`.
   * @default false
   */
  allowInsecure?: boolean | undefined
  /**
   * `{ ca, cert, key }` as PEM: a private CA, a client certificate and its key; the variables are paths of files.
   * @default Node's own
   */
  tls?:
    | {
        /**
         * Certificates of the CAs to trust, in place of those that Node trusts. PEM text, or a Buffer of it.
         * Variable: `PINO_INGEST_TLS_CA` (path of a file).
         * @default Node's own
         */
        ca?: string | Uint8Array | undefined
        /**
         * Client certificate, used with `key`. PEM text, or a Buffer of it.
         * Variable: `PINO_INGEST_TLS_CERT` (path of a file).
         * @default none
         */
        cert?: string | Uint8Array | undefined
        /**
         * Private key of `cert`, not encrypted. PEM text, or a Buffer of it.
         * Variable: `PINO_INGEST_TLS_KEY` (path of a file).
         * @default none
         */
        key?: string | Uint8Array | undefined
      }
    | undefined
  /**
   * NATS JetStream as a durable queue between many processes and the service.
   * @default none
   */
  nats?:
    | {
        /**
         * Servers of NATS JetStream, such as `tls://nats.example.com:4222`. Batches are published there and `pino-ingest forward` sends
         * them to the service; `url` and `apiKey` are not used. See a fleet (`docs/fleet.md`).
         * Variable: `PINO_INGEST_NATS_SERVERS` (separated by commas, or JSON).
         * @default none
         */
        servers?: readonly string[] | undefined
        /**
         * Content of a `.creds` file, or the seed of an NKey (`SU…`); the variable is the path of a file.
         * Variable: `PINO_INGEST_NATS_CREDS`.
         * @default none
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
               * Variable: `PINO_INGEST_NATS_TLS_CA` (path of a file).
               * @default Node's own
               */
              ca?: string | Uint8Array | undefined
              /**
               * Client certificate, used with `key`. PEM text, or a Buffer of it.
               * Variable: `PINO_INGEST_NATS_TLS_CERT` (path of a file).
               * @default none
               */
              cert?: string | Uint8Array | undefined
              /**
               * Private key of `cert`, not encrypted. PEM text, or a Buffer of it.
               * Variable: `PINO_INGEST_NATS_TLS_KEY` (path of a file).
               * @default none
               */
              key?: string | Uint8Array | undefined
            }
          | undefined
        /**
         * Name of the JetStream stream. A name of letters, digits, - and _.
         * Variable: `PINO_INGEST_NATS_STREAM`.
         * @default 'PINO_INGEST'
         */
        stream?: string | undefined
        /**
         * Log entries are published to `<subject>.logs`, request logs to `<subject>.requests`. Names of letters, digits, - and _, separated
         * by dots.
         * Variable: `PINO_INGEST_NATS_SUBJECT`.
         * @default 'pino-ingest'
         */
        subject?: string | undefined
      }
    | undefined
  /**
   * URL of an HTTP proxy, used only if `url` is set; `false` for none. `NO_PROXY` is a list of `*`, addresses and host names, each
   * optionally with a port; a host name includes its subdomains. Address ranges and `ALL_PROXY` are ignored.
   * Variable: `PINO_INGEST_PROXY`.
   * @default HTTPS_PROXY or HTTP_PROXY, except for loopback and hosts in NO_PROXY
   */
  proxy?: string | false | undefined
  /**
   * HTTP headers, `{ name: value }`, sent with every request, only to the configured `url`; the variable is JSON.
   * Variable: `PINO_INGEST_HEADERS`.
   * @default none
   */
  headers?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Compression of request bodies. Set `gzip` only if your service supports it; the service's interface does not specify it.
   * Variable: `PINO_INGEST_COMPRESSION`.
   * @default 'none'
   */
  compression?: 'none' | 'gzip' | undefined
  /**
   * Name of the service that logs.
   * Variables, the first that is set: `PINO_INGEST_SERVICE`, `OTEL_SERVICE_NAME`.
   * @default service.name of OTEL_RESOURCE_ATTRIBUTES, pino's name, the name in the application's package.json
   */
  service?: string | undefined
  /**
   * Environment of the application, such as `production`.
   * Variable: `PINO_INGEST_ENVIRONMENT`.
   * @default deployment.environment.name of OTEL_RESOURCE_ATTRIBUTES, NODE_ENV
   */
  environment?: string | undefined
  /**
   * Version of the application.
   * Variable: `PINO_INGEST_VERSION`.
   * @default service.version of OTEL_RESOURCE_ATTRIBUTES, the version in the application's package.json
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
         * Variable: `PINO_INGEST_COMMIT`.
         * @default the CI provider's variable
         */
        commit?: string | undefined
        /**
         * Name of the branch.
         * Variable: `PINO_INGEST_BRANCH`.
         * @default the CI provider's variable
         */
        branch?: string | undefined
        /**
         * User or system that started the deployment.
         * Variable: `PINO_INGEST_DEPLOYED_BY`.
         * @default the CI provider's variable
         */
        deployed_by?: string | undefined
      }
    | undefined
  /**
   * `true`: registers the release at startup and adds its id to every entry logged after the reply; a string: the id of a registered
   * release, added to every entry.
   * Variables, the first that is set: `PINO_INGEST_RELEASE_ID`, `PINO_INGEST_RELEASE`.
   * @default false
   */
  release?: boolean | string | undefined
  /**
   * Lowest level to send; pino's own `level` is applied before it.
   * Variable: `PINO_INGEST_LEVEL`.
   * @default 'info'
   */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | undefined
  /**
   * Share of the records that is sent, by level: `{ debug: 0.1 }`. Records of the same trace and level are all sent or all filtered.
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
   * Period in which only the first of equal errors is sent. A summary at its end counts the others. 0 disables it. In milliseconds, from 0
   * to 86400000 (1 day).
   * Variable: `PINO_INGEST_DEDUPE_WINDOW_MS`.
   * @default 0
   */
  dedupeWindowMs?: number | undefined
  /**
   * Attaches the records logged before an error to its entry; `false` disables it.
   * Variable: `PINO_INGEST_BREADCRUMBS` (true, false or JSON).
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
         * Maximum number of breadcrumbs kept for each request, trace or session, and attached to an entry. An integer from 1 to 1000.
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
        /**
         * Maximum memory for all breadcrumbs. In bytes, from 64 KiB to 1 GiB.
         * Variable: `PINO_INGEST_BREADCRUMBS_MAX_BYTES`.
         * @default 8388608 (8 MiB)
         */
        maxBytes?: number | undefined
      }
    | undefined
  /**
   * `true` also sends finished HTTP requests to request analytics; `PINO_INGEST_REQUEST_LOGS=only` sends them only there.
   * Variable: `PINO_INGEST_REQUEST_LOGS` (true, false or JSON or only; in code { only: true }).
   * @default off
   */
  requestLogs?:
    | boolean
    | {
        /**
         * `true`: finished HTTP requests are sent to request analytics; implied by any other member.
         * @default false
         */
        enabled?: boolean | undefined
        /**
         * `true`: finished HTTP requests are not also sent as log entries.
         * Variable: `PINO_INGEST_REQUEST_LOGS_ONLY`.
         * @default false
         */
        only?: boolean | undefined
        /**
         * Paths whose requests are not sent to request analytics, such as `/health`; `/internal/*` matches all that begin with
         * `/internal/`.
         * Variable: `PINO_INGEST_REQUEST_LOGS_IGNORE` (separated by commas, or JSON).
         * @default []
         */
        ignore?: readonly string[] | undefined
        /**
         * Keys of a request in a record, `{ req, res, responseTime, reqId }`, if `customAttributeKeys` of pino-http or `requestIdLogLabel`
         * of Fastify changes them. Also used for log entries, even if `enabled` is `false`.
         * Variable: `PINO_INGEST_REQUEST_LOGS_KEYS` (JSON).
         * @default req, res, responseTime, reqId
         */
        keys?:
          | {
              /**
               * Key of the request.
               * Variable: `PINO_INGEST_REQUEST_LOGS_KEYS_REQ`.
               * @default 'req'
               */
              req?: string | undefined
              /**
               * Key of the response.
               * Variable: `PINO_INGEST_REQUEST_LOGS_KEYS_RES`.
               * @default 'res'
               */
              res?: string | undefined
              /**
               * Key of the request's duration in milliseconds.
               * Variable: `PINO_INGEST_REQUEST_LOGS_KEYS_RESPONSE_TIME`.
               * @default 'responseTime'
               */
              responseTime?: string | undefined
              /**
               * Key of the request's id.
               * Variable: `PINO_INGEST_REQUEST_LOGS_KEYS_REQ_ID`.
               * @default 'reqId'
               */
              reqId?: string | undefined
            }
          | undefined
      }
    | undefined
  /**
   * `auto`: entries with an error get a computed fingerprint (`docs/sampling.md`), unless the record has one. The service uses it for
   * de-duplication.
   * Variable: `PINO_INGEST_FINGERPRINT`.
   * @default false
   */
  fingerprint?: 'auto' | false | undefined
  /**
   * Path of a module whose default export takes an entry and returns one, or `null` to drop it; for `ingestStream()` also the function
   * itself.
   * Variable: `PINO_INGEST_BEFORE_SEND`.
   * @default none
   */
  beforeSend?: string | BeforeSend | undefined
  /**
   * What to remove in addition to the built-in rules.
   * Variable: `PINO_INGEST_SCRUB` (JSON).
   * @default { patterns: [], keys: ['password', 'passwd', 'secret', 'token', 'access_token', 'refresh_token', 'api_key', 'apikey',
   * 'authorization', 'cookie', 'client_secret', 'private_key'], urlParams: ['token', 'password', 'secret', 'authorization', 'api_key',
   * 'access_token'] }
   */
  scrub?:
    | {
        /**
         * Patterns whose matches are removed from every text: `email`, `creditCard`, `ssn`, `bearer`, or a regular expression's source.
         * Variable: `PINO_INGEST_SCRUB_PATTERNS` (separated by commas, or JSON).
         * @default []
         */
        patterns?: readonly string[] | undefined
        /**
         * Names whose values are replaced at any depth; case, `-` and `_` are ignored, and numbers and booleans are kept.
         * Variable: `PINO_INGEST_SCRUB_KEYS`.
         * @default ['password', 'passwd', 'secret', 'token', 'access_token', 'refresh_token', 'api_key', 'apikey', 'authorization',
         * 'cookie', 'client_secret', 'private_key']
         */
        keys?: readonly string[] | undefined
        /**
         * Parameters whose values are removed from every URL.
         * Variable: `PINO_INGEST_SCRUB_URL_PARAMS` (separated by commas, or JSON).
         * @default ['token', 'password', 'secret', 'authorization', 'api_key', 'access_token']
         */
        urlParams?: readonly string[] | undefined
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
   * @default { size: 100, bytes: 1048576, intervalMs: 1000 }
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
         * Maximum size of a request body; a longer entry is sent alone. In bytes, from 1 KiB to 64 MiB.
         * Variable: `PINO_INGEST_BATCH_BYTES`.
         * @default 1048576 (1 MiB)
         */
        bytes?: number | undefined
        /**
         * Maximum time that an entry waits for its batch; 50 ms for the first batch after a pause, 20 ms for the first batch of a process.
         * In milliseconds, from 1 to 86400000 (1 day).
         * Variable: `PINO_INGEST_FLUSH_INTERVAL_MS`.
         * @default 1000
         */
        intervalMs?: number | undefined
      }
    | undefined
  /**
   * Maximum number of concurrent requests. The number adapts: 1 when idle, more while entries wait and the service keeps up, fewer when it
   * is slow or overloaded. With 1, entries arrive in order. An integer from 1 to 256.
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
   * @default { minMs: 250, maxMs: 30000 }
   */
  retry?:
    | {
        /**
         * Upper bound of the first retry delay, which is random; it doubles with each failure. In milliseconds, from 1 to 86400000 (1 day).
         * Variable: `PINO_INGEST_RETRY_MIN_MS`.
         * @default 250
         */
        minMs?: number | undefined
        /**
         * Maximum retry delay. In the first 20 s of an outage a delay is at most 5 s, then at most a quarter of its duration, up to this
         * value. In milliseconds, from 1 to 86400000 (1 day).
         * Variable: `PINO_INGEST_RETRY_MAX_MS`.
         * @default 30000
         */
        maxMs?: number | undefined
      }
    | undefined
  /**
   * Time limit for delivery at exit; pino itself waits at most 10 s. In milliseconds, from 0 to 8000.
   * Variable: `PINO_INGEST_SHUTDOWN_TIMEOUT_MS`.
   * @default 3000
   */
  shutdownTimeoutMs?: number | undefined
  /**
   * Where the transport writes its messages about problems. `debug` adds a line on stderr for each batch, reply, wait and decision, without
   * secrets and entries.
   * Variable: `PINO_INGEST_LOG`.
   * @default 'stderr'
   */
  logTo?: 'stderr' | 'silent' | 'debug' | undefined
  /**
   * Stores entries on disk until they are acknowledged; `false` keeps them in memory only.
   * Variable: `PINO_INGEST_SPOOL` (true, false or JSON; PINO_INGEST_SPOOL_DIR sets the path).
   * @default on; off if neither url nor nats is set
   */
  spool?:
    | boolean
    | {
        /**
         * `false`: entries are kept in memory only.
         * @default true; false if neither url nor nats is set
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
         * Variable: `PINO_INGEST_SPOOL_MAX_AGE`.
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
   * Former keys. Entries that were stored on disk under them are sent with the current key. A key that a running process replaced by
   * another one from `PINO_INGEST_API_KEY_FILE` need not be listed; the variable is a comma-separated list.
   * Variable: `PINO_INGEST_PREVIOUS_API_KEYS`.
   * @default none
   */
  previousApiKeys?: readonly string[] | undefined
  /**
   * Copies of pino's own options; set them to the same values.
   * Variable: `PINO_INGEST_PINO` (JSON).
   * @default none
   */
  pino?:
    | {
        /**
         * Pino's `messageKey`; needed for the pipe and `ingestStream()`, to which pino does not pass its configuration.
         * Variable: `PINO_INGEST_MESSAGE_KEY`.
         * @default pino's, else msg
         */
        messageKey?: string | undefined
        /**
         * Pino's `errorKey`; needed in the same cases as `messageKey`.
         * Variable: `PINO_INGEST_ERROR_KEY`.
         * @default pino's, else err
         */
        errorKey?: string | undefined
        /**
         * Pino's `nestedKey`, which pino does not pass to transports; `ingestOptions()` does.
         * Variable: `PINO_INGEST_NESTED_KEY`.
         * @default none
         */
        nestedKey?: string | undefined
        /**
         * Pino's `customLevels`, such as `{ audit: 35 }`, in the variable `audit:35`; needed in the same cases as `messageKey`.
         * Variable: `PINO_INGEST_CUSTOM_LEVELS`.
         * @default pino's
         */
        customLevels?: Readonly<Record<string, number>> | undefined
        /**
         * Key of the level, if `formatters.level` uses another than `level` or `severity`.
         * Variable: `PINO_INGEST_LEVEL_KEY`.
         * @default none
         */
        levelKey?: string | undefined
      }
    | undefined
}
