/**
 * Every message that the transport writes to stderr. `npm run docs` generates the tables of messages from this module,
 * so `cause` and `remedy` are Markdown.
 */
import type { DropReason } from './account.js'
import type { IngestErrorCode } from '../shared/errors.js'

type Fact = string | number | boolean

const SEND_UNDER_RIGHT_KEY =
  'after correcting the key, run npx pino-ingest spool replay --all, or set PINO_INGEST_PREVIOUS_API_KEYS to the former key'

export interface Message {
  /** Code of the `ingest:problem` event. A message without a code is written to stderr only. */
  readonly code?: IngestErrorCode
  readonly text: (...facts: readonly Fact[]) => string
  readonly cause: string
  readonly remedy: string
}

/** The service fails, recovers or rejects entries. */
export const SERVICE_MESSAGES = {
  keyRejected: {
    code: 'AUTH',
    text: (reason, url, hasSpool) =>
      `the service at ${url} rejected the API key: ${reason}; check apiKey or PINO_INGEST_API_KEY${hasSpool ? `. Entries on disk belong to the rejected key: ${SEND_UNDER_RIGHT_KEY}` : ''}`,
    cause: 'status 401 or 403',
    remedy:
      'set the right key and restart; a key in the file of `PINO_INGEST_API_KEY_FILE` needs no restart and no other step. Entries on disk belong to the rejected key and are not sent with another one by themselves: run `npx pino-ingest spool replay --all`, or set `PINO_INGEST_PREVIOUS_API_KEYS` to the former key',
  },
  wrongUrl: {
    code: 'MISDIRECTED',
    text: (reason, url) => `url ${url} does not point to the service: ${reason}; check url`,
    cause: 'a 404, a redirect, another 4xx, or a page with status 200, such as a login page',
    remedy:
      'set `url` to the base URL of the service, which ends with `/api/v1`; after a redirect, to its target if you trust it',
  },
  localServiceUnverified: {
    code: 'MISDIRECTED',
    text: (reason) => `the local service cannot be used: ${reason}`,
    cause:
      'no `url` is set, and the program on the port of the local service did not prove that it is your `pino-ingest dev`. Nothing was sent to it',
    remedy: 'stop that program and start `npx pino-ingest dev`, or follow the message. The usual backoff applies',
  },
  everythingRejected: {
    code: 'REJECTED',
    text: (reason) => `the service or a gateway in front of it rejects every batch: ${reason}; check url`,
    cause: 'every batch gets status 400, 413 or 422, even a batch of one entry',
    remedy:
      'check the size limit of the gateway (`batch.bytes`), its filters, the path in `url`, and support for `compression`',
  },
  unavailable: {
    code: 'UNAVAILABLE',
    text: (reason) => `the service does not accept entries: ${reason}`,
    cause: 'it is down, too slow, or responds with 5xx',
    remedy: 'check that it is running and reachable: `npx pino-ingest doctor`. Entries are sent when it is back',
  },
  cannotSend: {
    code: 'UNAVAILABLE',
    text: (reason) => `cannot send entries: ${reason}`,
    cause:
      'this process cannot send the request or read the reply: too many open files, no WebAssembly, or an unexpected `100 Continue`',
    remedy: 'follow the message. Entries are kept as in an outage, and sent when the cause is gone',
  },
  rateLimited: {
    code: 'RATE_LIMITED',
    text: (reason) => `the service limits the request rate: ${reason}`,
    cause: 'status 429',
    remedy:
      'nothing if it is rare. Otherwise send fewer entries (`level`, `sample`, `dedupeWindowMs`), or ask for a higher limit',
  },
  recovered: {
    text: (seconds) => `the service accepts entries again, after ${seconds} s`,
    cause: 'one of the problems above has ended',
    remedy: 'nothing',
  },
  entriesRejected: {
    text: (entries, reason, remedy) => `the service rejected ${entries}: ${reason}; ${remedy}`,
    cause: 'the service considers these entries invalid',
    remedy:
      '`npx pino-ingest spool show dead` lists them; after fixing the cause, send them with `npx pino-ingest spool replay dead`',
  },
  unreadableReply: {
    code: 'MISDIRECTED',
    text: () => 'a reply is not the ingest result of its batch, which is counted as accepted; check url',
    cause:
      'a 2xx without a body, a JSON object without `accepted` or of more than 256 KiB, or an ingest result that accepts more entries than were sent; reported once',
    remedy: 'check that `url` points to the service: if another server replied, these entries are lost',
  },
  releaseNotRegistered: {
    text: (reason) => `cannot register the release: ${reason}; entries are sent without release_id`,
    cause:
      'no version was found for `release: true`, or the registration failed. `code` is that of the underlying error',
    remedy: 'fix the cause in the message; after an outage or a Retry-After the registration is retried',
  },
} as const satisfies Record<string, Message>

/** NATS fails, or recovers. A failure line ends with the delay before the next attempt. */
export const QUEUE_MESSAGES = {
  credentialsRejected: {
    code: 'AUTH',
    text: (reason) => `NATS rejected the credentials: ${reason}; check nats.credentials`,
    cause: 'they are missing, wrong, expired or revoked',
    remedy: 'set valid `nats.credentials` and restart; if they become valid again, entries are sent without a restart',
  },
  publishForbidden: {
    code: 'AUTH',
    text: (reason) => `the NATS user is not allowed to publish: ${reason}; check its permissions`,
    cause: 'the user may not publish to the subject, or may not subscribe to `_INBOX.publisher.>` for the replies',
    remedy:
      'grant the permissions that `docs/fleet-operations.md` lists for applications. Entries are then sent without a restart',
  },
  queueMisconfigured: {
    code: 'MISDIRECTED',
    text: (reason) =>
      `NATS has no usable stream: ${reason}; run pino-ingest forward init, and check nats.stream and nats.subject`,
    cause: 'the stream does not exist or has other subjects, or JetStream is not enabled for the account',
    remedy: 'create the stream with `npx pino-ingest forward init`',
  },
  queueUnavailable: {
    code: 'UNAVAILABLE',
    text: (reason) => `NATS does not accept entries: ${reason}`,
    cause:
      'no server is reachable, a leader is being elected, or an acknowledgement took longer than 3 s; for an application with its own NATS account also a missing stream',
    remedy:
      'check that the servers are running and reachable: `npx pino-ingest doctor`. Entries are sent when they are back',
  },
  queueFull: {
    code: 'UNAVAILABLE',
    text: (reason) => `the NATS stream is full: ${reason}; check that pino-ingest forward is running`,
    cause:
      'applications log more than the forwarders deliver, no forwarder is running, or the storage of servers or account is full',
    remedy:
      'check why the forwarders do not deliver, or raise the limit of the stream. Entries are sent when there is room',
  },
  queueRecovered: {
    text: (seconds) => `NATS accepts entries again, after ${seconds} s`,
    cause: 'one of the problems above has ended',
    remedy: 'nothing',
  },
} as const satisfies Record<string, Message>

/** Entries are dropped. The line starts with `dropped … (reason): `. */
export const DROP_MESSAGES = {
  bufferFull: {
    reason: 'buffer',
    text: (maxBytes, level, reason) =>
      `maxBufferBytes ${maxBytes} was reached, so the oldest batch (highest level ${level}) was dropped; ${reason}`,
    cause: 'the application logs more than the service accepts, and there is no spool or its disk fails',
    remedy: 'enable `spool`, raise `maxBufferBytes`, or send fewer entries',
  },
  batchTooLarge: {
    reason: 'buffer',
    text: (bytes, maxBytes) =>
      `a batch of ${bytes} bytes and the batches in flight together exceed maxBufferBytes ${maxBytes}`,
    cause: 'as above, for a single large batch',
    remedy: 'raise `maxBufferBytes`, or lower `batch.bytes` or `maxConcurrency`',
  },
  memoryShort: {
    reason: 'buffer',
    text: () => 'maxBufferBytes is nearly reached, new debug and info entries are dropped',
    cause: 'the remaining memory is reserved for higher levels',
    remedy: 'as above',
  },
  diskShort: {
    reason: 'spool',
    text: () => 'spool.maxBytes is nearly reached, new debug and info entries are dropped',
    cause: 'the remaining disk space is reserved for higher levels',
    remedy: 'raise `spool.maxBytes`, or find out why the service does not accept the entries',
  },
  spoolFull: {
    reason: 'spool',
    text: () => 'spool.maxBytes was reached, so the oldest segment was deleted',
    cause: 'the application logs more than the service accepts',
    remedy: 'as above',
  },
  tooOld: {
    reason: 'age',
    text: (maxAgeMs) => `older than spool.maxAgeMs ${maxAgeMs}`,
    cause: 'the service did not accept them within that time',
    remedy: 'raise `spool.maxAgeMs`',
  },
  nobodyListens: {
    reason: 'shutdown',
    text: (url) =>
      `no URL is set, and no local service listens at ${url}. Run \`npx pino-ingest dev\` to see entries, or set PINO_INGEST_URL to send them to a service`,
    cause: 'the process exited, and there was no place to send the entries to',
    remedy:
      'run `npx pino-ingest dev -- node app.js`, or start `npx pino-ingest dev` before the application; for a real service set `PINO_INGEST_URL` and `PINO_INGEST_API_KEY`',
  },
  notDelivered: {
    reason: 'shutdown',
    text: (timeoutMs, reason) =>
      `not delivered before the process exited (shutdownTimeoutMs ${timeoutMs}), and not on disk; last failure: ${reason}`,
    cause: 'there is no spool, and the service did not accept them within the timeout',
    remedy: 'enable `spool`, or raise `shutdownTimeoutMs`. If entries go to the local service, start it',
  },
  processExited: {
    reason: 'shutdown',
    text: (reason) => `the process exited before they were delivered; last failure: ${reason}`,
    cause: '`process.exit()` with `ingestStream()` and without a spool',
    remedy: '`await flush(logger)` before it, or enable `spool`',
  },
  workerEnded: {
    reason: 'shutdown',
    text: () => 'the worker that had them in memory ended; a new one was started',
    cause: 'the worker of `ingestOptions()` ended before they were on disk',
    remedy: 'see the line `the worker ended`. With a `spool`, only what the worker had not read yet is lost',
  },
  loggedAfterClose: {
    reason: 'shutdown',
    text: () => 'logged after the transport was closed',
    cause:
      'the application ended the stream and continued to log, or with `ingestStream()` a listener for `exit` logged, and there is no spool',
    remedy: 'enable `spool`, or end the stream last',
  },
  segmentDamaged: {
    reason: 'damaged',
    text: (path) => `their data in ${path} is damaged or missing`,
    cause: 'a power failure or another program damaged the file',
    remedy: "set `durability: 'power'`: a power failure then loses at most one second",
  },
  batchUnreadable: {
    reason: 'damaged',
    text: (path) => `cannot read batches in ${path}`,
    cause: 'the file was truncated',
    remedy: 'check the disk',
  },
  segmentDeleted: {
    reason: 'damaged',
    text: (path) => `another process deleted ${path}`,
    cause: 'the file was in use and had the only copy of these entries',
    remedy: 'set `spool.dir` to a folder that no other program cleans up',
  },
  folderDeleted: {
    reason: 'damaged',
    text: (path) => `another process deleted the folder of this process in ${path}`,
    cause: 'the spool was emptied while it was in use',
    remedy: 'as above',
  },
  deletedWhileWaiting: {
    text: () => 'their segment on disk was deleted before they were sent',
    cause: 'the spool was full, or another process took over the segment',
    remedy: 'raise `spool.maxBytes`, or find out why the service does not accept the entries',
  },
} as const satisfies Record<string, Message & { readonly reason?: DropReason }>

/** The spool. */
export const SPOOL_MESSAGES = {
  kept: {
    text: (entries, reason) =>
      `${entries} not yet acknowledged; kept on disk and sent at the next start with this destination; last failure: ${reason}`,
    cause:
      'the process exited before the service accepted them. Nothing is lost. A destination is `url` and `apiKey`, or with `nats` its account, stream and subject',
    remedy: 'start the application again, or send them from a shell: `npx pino-ingest spool replay --all`',
  },
  keptForKey: {
    text: (entries, reason) =>
      `${entries} not yet acknowledged; kept on disk under the key that the service rejected; ${SEND_UNDER_RIGHT_KEY}; last failure: ${reason}`,
    cause:
      'the process exited while the service rejected the key. Nothing is lost, but a start with another key does not send them',
    remedy:
      'correct the key, then run `npx pino-ingest spool replay --all`, or set `PINO_INGEST_PREVIOUS_API_KEYS` to the former key',
  },
  notWritable: {
    code: 'SPOOL',
    text: (reason) =>
      `cannot write entries to disk: ${reason}; they stay in memory, and writing is retried. Free space, or set spool.dir or PINO_INGEST_SPOOL_DIR to a writable folder`,
    cause: 'the disk is full or read-only, or the folder belongs to another user',
    remedy: 'fix the cause in the message, or set `spool.dir` to another folder',
  },
  limitReachedByOthers: {
    code: 'SPOOL',
    text: (maxBytes, path, bytes) =>
      `other processes use ${bytes} bytes in ${path}, which reaches spool.maxBytes ${maxBytes}; entries stay in memory, and writing is retried`,
    cause: 'processes that share the folder filled it',
    remedy:
      'raise `spool.maxBytes` in all of them, or set a separate `spool.dir` for each; `npx pino-ingest spool ls` lists the owners',
  },
  writableAgain: {
    text: () => 'writing entries to disk has resumed',
    cause: 'one of the two problems above has ended',
    remedy: 'nothing',
  },
  notReadable: {
    code: 'SPOOL',
    text: (reason) => `cannot read entries from disk, retrying every 5 s: ${reason}`,
    cause: 'too many open files, or an I/O error. No entry is lost',
    remedy: 'fix the cause in the message; for `EMFILE` raise the limit (`ulimit -n`)',
  },
  notSynchronized: {
    code: 'SPOOL',
    text: (reason) => `a power failure may lose entries on disk: ${reason}`,
    cause: "with `durability: 'power'`, synchronizing a file failed. The entries are still sent",
    remedy: 'check the disk',
  },
  failed: {
    code: 'SPOOL',
    text: (reason) => `spool file error, entries may be sent twice: ${reason}`,
    cause: 'the file could not be read, written or deleted',
    remedy: 'fix the cause in the message',
  },
  bytesDamaged: {
    code: 'SPOOL',
    text: (bytes, path) => `${bytes} bytes of ${path} are damaged and were skipped`,
    cause: 'a power failure, a faulty disk or another program damaged the file. The number of lost entries is unknown',
    remedy: 'check the disk',
  },
  deadLettersNotSaved: {
    code: 'SPOOL',
    text: (entries, reason) => `cannot write ${entries} rejected entries to disk: ${reason}`,
    cause: 'the disk is full, read-only or faulty. The entries are counted as rejected, but not stored in `dead/`',
    remedy: 'check the disk',
  },
  foreignVersion: {
    code: 'SPOOL',
    text: (path) => `another version of pino-ingest wrote ${path}; it is not read`,
    cause: 'the file has an older or newer format',
    remedy: 'send it with `spool replay` of that version',
  },
  foreignEntries: {
    text: (bytes, paths) =>
      `${bytes} bytes of entries for another destination are not sent: ${paths}. After a change of the key, set PINO_INGEST_PREVIOUS_API_KEYS to the former key; otherwise use npx pino-ingest spool ls and spool replay`,
    cause:
      'they were logged with other settings more than 10 minutes ago, or under a key that the service of this URL rejected. Reported once, by the first process of this user that finds them',
    remedy:
      'set `PINO_INGEST_PREVIOUS_API_KEYS` to the former key; or list them with `npx pino-ingest spool ls`, and send them with `npx pino-ingest spool replay ID` or delete them with `npx pino-ingest spool purge ID`',
  },
  foreignEntriesExpired: {
    text: (bytes, path) => `deleted ${bytes} bytes of expired entries for another destination: ${path}`,
    cause: 'no process sent them within `spool.maxAgeMs`, or within seven days if that is longer',
    remedy: 'nothing',
  },
  takenOver: {
    text: (entries) =>
      `while this process was suspended, another one took over its entries on disk (${entries} entries)`,
    cause:
      'the process was suspended, or the machine went to sleep. The other process sends the entries; a few may arrive twice',
    remedy: 'nothing',
  },
} as const satisfies Record<string, Message>

/** The application's code and settings. */
export const APPLICATION_MESSAGES = {
  keyWithoutUrl: {
    code: 'CONFIG',
    text: (names, url) =>
      `${names} ignored: no URL is set, so requests go to the local service at ${url}. Set PINO_INGEST_URL, or unset these options.`,
    cause: '`apiKey`, `previousApiKeys` or `headers` is set, but `url` is not. They are sent only to a configured URL',
    remedy: 'set `PINO_INGEST_URL`, or unset these options',
  },
  keyWithNats: {
    code: 'CONFIG',
    text: (names) =>
      `${names} ignored with nats, since only pino-ingest forward sends requests to the service; helpers such as sendFeedback() still use these options`,
    cause: '`apiKey`, `previousApiKeys` or `headers` is set together with `nats`; they are never sent to NATS',
    remedy: 'unset these options, unless helpers such as `sendFeedback()` need them',
  },
  variableUnknown: {
    text: (names) => `ignored unknown environment variables: ${names}. docs/options.md lists all variables`,
    cause: 'a variable of the environment begins with `PINO_INGEST_`, but nothing reads it; reported once',
    remedy: 'correct its name, or unset it. All variables: [options](options.md)',
  },
  levelUnknown: {
    code: 'CONFIG',
    text: (key) =>
      `100 consecutive records have no recognized level under "${key}" and were mapped to info. Set pino.levelKey to the key of the level, or pino.customLevels to its names and numbers.`,
    cause:
      '`formatters.level` or another logger writes the level under another key, or with other names or numbers; reported once',
    remedy:
      'set `pino.levelKey` to that key, or `pino.customLevels` to [recognized level names](mapping.md#levels) and their numbers',
  },
  recordIncomplete: {
    code: 'INVALID',
    text: (chars) => `a record of ${chars} characters is incomplete; only the members before the cut are sent`,
    cause:
      'a record of more than 16 Mi characters, or a line whose writer was killed. The rest may be part of a header or a body, so it is not sent',
    remedy: 'log less in one record. `metadata.pino_ingest.cut_from_chars` marks the entries',
  },
  inputUnsupported: {
    code: 'INVALID',
    text: (form, command) =>
      `the input is ${form}, which is not supported; each line is sent as one entry. Use ${command}.`,
    cause:
      'the input of a pipe or of `send` is UTF-16, or JSON of the systemd journal without its long messages; reported once',
    remedy: 'run the command that the message names: [supported input](cli.md#supported-input)',
  },
  requestsNotUnderstood: {
    code: 'CONFIG',
    text: (count, req, res, responseTime, reqId) =>
      `${count} consecutive records look like HTTP requests but produced no request log. Set requestLogs.keys (now ${req}, ${res}, ${responseTime}, ${reqId}) to the keys that they use.`,
    cause:
      '`requestLogs` is on, and the records have a status or a duration, but method, path, status and duration are not all under the configured keys; reported once',
    remedy:
      "set `requestLogs.keys` to the names of pino-http's `customAttributeKeys`, or `reqId` to Fastify's `requestIdLogLabel`",
  },
  hookFailed: {
    code: 'CONFIG',
    text: (fault) => `beforeSend ${fault}; the entry is sent unchanged`,
    cause: 'the hook threw, or returned nothing, a promise, or no valid entry',
    remedy: 'fix the hook',
  },
  workerReplaced: {
    text: (cause) => `the worker ended (${cause}); a new one was started, and sends what is on disk`,
    cause:
      'with `ingestOptions()`: it ran out of memory or was terminated, or another transport in `targets` failed or ended it',
    remedy: 'remove the cause that the line names',
  },
  workerNotReplaced: {
    text: (cause, reason) =>
      `the worker ended (${cause}) and is not restarted: ${reason}. Remove the cause and restart the application; until then, records are lost.`,
    cause: 'the workers of this logger end again and again, or a new one cannot be started',
    remedy: 'remove the cause that the line names, and restart the application',
  },
  workerLost: {
    text: (count, reason) => `${count === 1 ? '1 record is' : `${count} records are`} lost: ${reason}`,
    cause:
      'the worker ended before they were on disk and was not restarted, or a listener for `exit` that was added after the logger logged them',
    remedy: 'see the line `the worker ended`; add listeners for `exit` before the logger is created',
  },
  manyWorkers: {
    text: (count) =>
      `${count} workers run in this process, each with its own thread. Create one logger per process, and use logger.child().`,
    cause: 'a logger with `ingestOptions()` is created for each request, job or module',
    remedy: 'create one logger, and use `logger.child()`. A worker needs 15 to 20 MB',
  },
  listenerThrew: {
    text: (event, error) => `a listener of ${event} threw: ${error}`,
    cause: 'with `ingestStream()`: your listener of an `ingest:*` event',
    remedy: 'fix the listener',
  },
} as const satisfies Record<string, Message>
