/**
 * Everything that the transport writes to stderr. `npm run docs` generates the tables of messages from this module, which is
 * why each has its cause and its remedy, as Markdown.
 */
import type { DropReason } from './account.js'
import type { IngestErrorCode } from '../shared/errors.js'

type Fact = string | number

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
    text: (reason) => `the service rejects the key, check apiKey: ${reason}`,
    cause: 'status 401 or 403',
    remedy:
      'set the right key and restart; with a spool nothing is lost. If the key was replaced, name the former one in `previousApiKeys`',
  },
  wrongUrl: {
    code: 'MISDIRECTED',
    text: (reason) => `the url is not that of the service, check url: ${reason}`,
    cause: 'a 404, a redirect, another 4xx, or a page with status 200, such as a login page',
    remedy:
      'correct `url`: the host of the service, with `/api/v1` at the end; after a redirect its target, if you trust it',
  },
  localServiceUnverified: {
    code: 'MISDIRECTED',
    text: (reason) => `the local service cannot be used: ${reason}`,
    cause:
      'no `url` is set, and the program on the port of the local service did not prove that it is your `pino-ingest dev`. Nothing was sent to it',
    remedy: 'stop that program and start `npx pino-ingest dev`, or do what the message says. The usual backoff applies',
  },
  everythingRejected: {
    code: 'REJECTED',
    text: (reason) => `the service, or a gateway before it, rejects every batch, check url: ${reason}`,
    cause: 'each batch gets a 400, 413 or 422, down to single entries',
    remedy:
      'check for a limit of the gateway (`batch.bytes`), a filter, a wrong path, or `compression` that the service does not support',
  },
  unavailable: {
    code: 'UNAVAILABLE',
    text: (reason) => `the service does not accept entries: ${reason}`,
    cause: 'it is down, too slow, or answers 5xx',
    remedy: 'check that it runs and can be reached: `npx pino-ingest doctor`. Entries are sent when it is back',
  },
  rateLimited: {
    code: 'RATE_LIMITED',
    text: (reason) => `the service limits the rate of requests: ${reason}`,
    cause: 'status 429',
    remedy:
      'nothing, if it is rare. Otherwise send less (`level`, `sample`, `dedupeWindowMs`), or ask for a higher limit',
  },
  recovered: {
    text: (seconds) => `the service accepts entries again, after ${seconds} s`,
    cause: 'one of the problems above has ended',
    remedy: 'nothing',
  },
  entriesRejected: {
    text: (entries, reason) => `the service rejected ${entries}: ${reason}`,
    cause: 'it rejected these entries for this reason',
    remedy:
      '`npx pino-ingest spool show dead` shows them; after a correction `npx pino-ingest spool replay dead` sends them again',
  },
  unreadableReply: {
    code: 'MISDIRECTED',
    text: () => 'a reply is not an ingest result; its batch counts as accepted. Check the url',
    cause: 'a 2xx without a body, or a JSON object without `accepted` or of more than 256 KiB; reported once',
    remedy: 'check that `url` is that of the service: if something else answered, these entries are lost',
  },
  releaseNotRegistered: {
    text: (reason) => `the release is not registered: ${reason}; entries are sent without its id`,
    cause: '`release: true` found no version, or the service rejected it. The event has the code of the failure',
    remedy: 'correct what the reason names; the registration is repeated after an outage',
  },
} as const satisfies Record<string, Message>

/** The queue of `nats` fails or recovers. The first four are followed by what happens to the entries. */
export const QUEUE_MESSAGES = {
  credentialsRejected: {
    code: 'AUTH',
    text: (reason) => `NATS rejects the credentials, check nats.credentials: ${reason}`,
    cause: 'they are missing, wrong, expired or revoked',
    remedy: 'set valid `nats.credentials` and restart; if they become valid again, entries are sent without a restart',
  },
  publishForbidden: {
    code: 'AUTH',
    text: (reason) => `NATS does not permit these credentials to publish, check their permissions: ${reason}`,
    cause: 'the user may not publish to the subject, or not subscribe to the replies at `_INBOX.publisher.>`',
    remedy: 'grant what `docs/fleet.md` lists for applications. Entries are then sent without a restart',
  },
  queueMisconfigured: {
    code: 'MISDIRECTED',
    text: (reason) =>
      `NATS has no usable stream, run pino-ingest forward init and check nats.stream and nats.subject: ${reason}`,
    cause: 'the stream does not exist or has other subjects, JetStream is not enabled, or no server answered for 60 s',
    remedy: 'create the stream with `npx pino-ingest forward init`',
  },
  queueUnavailable: {
    code: 'UNAVAILABLE',
    text: (reason) => `NATS does not accept entries: ${reason}`,
    cause:
      'no server can be reached, a leader is being elected, or an acknowledgement took longer than 3 s; to an application in an account of its own also that the stream does not exist',
    remedy:
      'check that the servers run and can be reached: `npx pino-ingest doctor`. Entries are sent when they are back',
  },
  queueFull: {
    code: 'UNAVAILABLE',
    text: (reason) => `the stream of NATS is full, check pino-ingest forward: ${reason}`,
    cause: 'forwarders deliver less than is logged, or none runs; or the storage of servers or account is used up',
    remedy:
      'check why the forwarders do not deliver, or raise the limit of the stream. Entries are sent when there is room',
  },
  queueRecovered: {
    text: (seconds) => `NATS accepts entries again, after ${seconds} s`,
    cause: 'one of the problems above has ended',
    remedy: 'nothing',
  },
} as const satisfies Record<string, Message>

/** Entries are dropped. The line begins with `dropped … (reason): `. */
export const DROP_MESSAGES = {
  bufferFull: {
    reason: 'buffer',
    text: (maxBytes, level, reason) =>
      `maxBufferBytes ${maxBytes} is full, the oldest batch was dropped, up to level ${level}; ${reason}`,
    cause: 'there is no spool, or the disk fails, and the service accepts less than is logged',
    remedy: 'turn `spool` on, raise `maxBufferBytes`, or send less',
  },
  batchTooLarge: {
    reason: 'buffer',
    text: (bytes, maxBytes) =>
      `a batch of ${bytes} bytes does not fit into maxBufferBytes ${maxBytes} beside those in flight`,
    cause: 'the same for one large batch',
    remedy: 'raise `maxBufferBytes`, or lower `batch.bytes` or `maxConcurrency`',
  },
  memoryShort: {
    reason: 'buffer',
    text: () => 'new entries of level debug and info are refused while memory is short',
    cause: '`maxBufferBytes` is nearly reached; the rest is reserved for higher levels',
    remedy: 'as above',
  },
  diskShort: {
    reason: 'spool',
    text: () => 'new entries of level debug and info are refused while the disk is short',
    cause: '`spool.maxBytes` is nearly reached; the rest is reserved for higher levels',
    remedy: 'raise `spool.maxBytes`, or find out why the service does not accept the entries',
  },
  spoolFull: {
    reason: 'spool',
    text: () => 'spool.maxBytes is full, the oldest segment was deleted',
    cause: 'the spool is full',
    remedy: 'as above',
  },
  tooOld: {
    reason: 'age',
    text: (maxAgeMs) => `older than spool.maxAgeMs ${maxAgeMs}`,
    cause: 'they waited for longer than you allow',
    remedy: 'raise `spool.maxAgeMs`',
  },
  notDelivered: {
    reason: 'shutdown',
    text: (timeoutMs, reason) =>
      `not delivered before the process ended (shutdownTimeoutMs ${timeoutMs}), and not on disk; last failure: ${reason}`,
    cause: 'there was no spool, and the time was over',
    remedy: 'turn `spool` on, or raise `shutdownTimeoutMs`; start the local service, if that is where entries are sent',
  },
  processExited: {
    reason: 'shutdown',
    text: (reason) => `the process ended before they were delivered; last failure: ${reason}`,
    cause: '`process.exit()` with `ingestStream()` and without a spool',
    remedy: '`await flush(logger)` before it, or turn `spool` on',
  },
  loggedAfterClose: {
    reason: 'shutdown',
    text: () => 'logged after the transport was closed',
    cause: 'the stream was ended, and the application continued to log',
    remedy: 'end it last',
  },
  segmentDamaged: {
    reason: 'damaged',
    text: (path) => `their part of ${path} is damaged or missing`,
    cause: 'the file was damaged by a power failure or by another program',
    remedy: "with `durability: 'power'` a power failure loses at most one second",
  },
  batchUnreadable: {
    reason: 'damaged',
    text: (path) => `batches in ${path} cannot be read back`,
    cause: 'the file was truncated',
    remedy: 'check the disk',
  },
  segmentDeleted: {
    reason: 'damaged',
    text: (path) => `another process deleted ${path}`,
    cause: 'it was in use, and these entries were nowhere else',
    remedy: 'use a `spool.dir` that no program cleans up',
  },
  folderDeleted: {
    reason: 'damaged',
    text: (path) => `another process deleted the folder of this process from ${path}`,
    cause: 'the spool was emptied while it was in use',
    remedy: 'as above',
  },
  evictedWhileWaiting: {
    text: () => 'their segment on disk was deleted before they were sent',
    cause: 'the spool was full, or another process has taken it over',
    remedy: 'as for `spool`',
  },
} as const satisfies Record<string, Message & { readonly reason?: DropReason }>

/** The spool. The code is `SPOOL` where the table names it. */
export const SPOOL_MESSAGES = {
  kept: {
    text: (entries) => `${entries} not yet acknowledged; kept on disk for the next start with this destination`,
    cause:
      'the process ended before the service accepted them. Nothing is lost. A destination is `url` and `apiKey`, or with `nats` its account, stream and subject',
    remedy: 'start it again, or send them from a shell: `npx pino-ingest spool replay` with `--all`',
  },
  notWritable: {
    code: 'SPOOL',
    text: (reason) =>
      `entries cannot be kept on disk: ${reason}; they stay in memory, and the disk is tried again. Set spool.dir or PINO_INGEST_SPOOL_DIR to a folder that can be written`,
    cause: 'the disk is full or read-only, or the folder belongs to another user',
    remedy: 'the message has path and reason; name another folder in `spool.dir`',
  },
  limitReachedByOthers: {
    code: 'SPOOL',
    text: (maxBytes, path, bytes) =>
      `other processes keep ${bytes} bytes in ${path}, which reaches spool.maxBytes ${maxBytes}; entries stay in memory, and the disk is tried again`,
    cause: 'processes that share the folder have filled it',
    remedy:
      'raise `spool.maxBytes` in all of them, or give each a `spool.dir`; `npx pino-ingest spool ls` shows the owners',
  },
  writableAgain: {
    text: () => 'entries are kept on disk again',
    cause: 'one of the two problems above has ended',
    remedy: 'nothing',
  },
  notReadable: {
    code: 'SPOOL',
    text: (reason) => `entries on disk cannot be read for now, and are tried again every 5 s: ${reason}`,
    cause: 'too many open files, or an I/O error. The entries wait; none is lost',
    remedy: 'the message has the reason of the system; for `EMFILE` raise the limit (`ulimit -n`)',
  },
  notSynchronized: {
    code: 'SPOOL',
    text: (reason) => `entries on disk may be lost if the power fails: ${reason}`,
    cause: "with `durability: 'power'`: synchronizing a file failed. The entries are still sent",
    remedy: 'check the disk',
  },
  failed: {
    code: 'SPOOL',
    text: (reason) => `a file of the spool failed, entries may be sent twice: ${reason}`,
    cause: 'it could not be read, written or deleted',
    remedy: 'the message has the reason of the system',
  },
  bytesDamaged: {
    code: 'SPOOL',
    text: (bytes, path) => `${bytes} bytes of ${path} are damaged and were skipped`,
    cause: 'what they contained is unknown',
    remedy: 'check the disk',
  },
  dropCountsNotSaved: {
    code: 'SPOOL',
    text: (reason) => `cannot save the drop counts to disk: ${reason}`,
    cause: 'if the process ends now, the drops are not reported to the service',
    remedy: 'check the disk',
  },
  deadLettersNotSaved: {
    code: 'SPOOL',
    text: (entries, reason) => `${entries} rejected entries cannot be kept on disk: ${reason}`,
    cause: 'they are counted as rejected, but not kept in `dead/`',
    remedy: 'check the disk',
  },
  foreignVersion: {
    code: 'SPOOL',
    text: (path) => `${path} was written by another version of pino-ingest and is not read`,
    cause: 'an older or newer format',
    remedy: 'send it with that version: its `spool replay`',
  },
  foreignEntries: {
    text: (bytes, paths) =>
      `${bytes} bytes of entries for another destination are stored in ${paths} and are not sent (name a former key in previousApiKeys; npx pino-ingest spool ls lists them, replay sends them)`,
    cause:
      'they were logged under other settings, more than 10 minutes ago. Reported once, by the first process of this user that finds them',
    remedy:
      'name the former key in `previousApiKeys`, or list them with `npx pino-ingest spool ls`, send them with `npx pino-ingest spool replay ID`, delete them with `npx pino-ingest spool purge ID`',
  },
  foreignEntriesExpired: {
    text: (bytes, path) => `${bytes} bytes of entries for another destination were too old and were deleted: ${path}`,
    cause: 'nobody has sent them for `spool.maxAgeMs`, at least seven days',
    remedy: 'nothing',
  },
  takenOver: {
    text: (entries) =>
      `this process was suspended for so long that another one took over its entries on disk (${entries} entries)`,
    cause: 'it was stopped, or the machine slept. The other process sends them; a few may arrive twice',
    remedy: 'nothing',
  },
} as const satisfies Record<string, Message>

/** The code and the settings of the application. */
export const APPLICATION_MESSAGES = {
  keyWithoutUrl: {
    code: 'CONFIG',
    text: (names, url) =>
      `${names} not used, because no URL is set; requests go to the local service at ${url}. Set PINO_INGEST_URL, or unset the named options.`,
    cause:
      '`apiKey`, `previousApiKeys` or `headers` is set, but no `url`; none of them is sent to the implicit local service',
    remedy: 'set `PINO_INGEST_URL`, or unset the named options',
  },
  keyWithNats: {
    code: 'CONFIG',
    text: (names) =>
      `${names} not used, because nats is set and pino-ingest forward holds the key. Unset the named options, except for pino-ingest forward itself.`,
    cause: '`apiKey`, `previousApiKeys` or `headers` is set beside `nats`; none of them is sent to NATS',
    remedy: 'unset the named options, unless helpers such as `sendFeedback()` need them',
  },
  levelUnknown: {
    code: 'CONFIG',
    text: (key) =>
      `100 consecutive records have no recognized level under "${key}" and were mapped to info. Set pino.levelKey to the right key.`,
    cause: 'a `formatters.level`, or another logger, writes the level under another name; reported once',
    remedy: 'name the key in `pino.levelKey`, or write one of the level names in [the table of fields](mapping.md)',
  },
  requestsNotUnderstood: {
    code: 'CONFIG',
    text: (count, req, res, responseTime, reqId) =>
      `${count} consecutive records look like HTTP requests but produced no request log. Set requestLogs.keys (now ${req}, ${res}, ${responseTime}, ${reqId}) to their keys.`,
    cause:
      '`requestLogs` is on, and the records have a status or a duration, but no method, path, status and duration under the keys that are known; reported once',
    remedy:
      "set `requestLogs.keys` to the names of pino-http's `customAttributeKeys`, or `reqId` to Fastify's `requestIdLogLabel`",
  },
  hookFailed: {
    code: 'CONFIG',
    text: (fault) => `beforeSend ${fault}; the entry is sent unchanged`,
    cause: 'the hook threw, or returned nothing, a promise, or no valid entry',
    remedy: 'correct the hook',
  },
  listenerThrew: {
    text: (event, error) => `a listener of ${event} threw: ${error}`,
    cause: 'with `ingestStream()`: your listener of an `ingest:*` event',
    remedy: 'correct the listener',
  },
} as const satisfies Record<string, Message>
