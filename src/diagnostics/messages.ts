/**
 * Every message that the transport writes to stderr. `npm run docs` generates the sections of docs/errors.md from this module,
 * so `cause` and `remedy` are sentences in Markdown.
 */
import type { DropReason } from './account.js'
import type { IngestErrorCode } from '../shared/errors.js'

type Fact = string | number | boolean

export interface Message {
  /** Code of the `ingest:problem` event. A message without a code is written to stderr only. */
  readonly code?: IngestErrorCode
  readonly text: (...facts: readonly Fact[]) => string
  readonly cause: string
  readonly remedy: string
}

/** The log service fails, recovers or rejects entries. */
export const SERVICE_MESSAGES = {
  keyRejected: {
    code: 'AUTH',
    text: (reason, url) =>
      `set a valid API key (PINO_INGEST_API_KEY or PINO_INGEST_API_KEY_FILE): ${url} replied with ${reason}`,
    cause: 'Status 401 or 403. Entries wait.',
    remedy: 'Correct the key: [wrong key](troubleshooting.md#wrong-key-or-url).',
  },
  wrongUrl: {
    code: 'MISDIRECTED',
    text: (reason, url) => `correct PINO_INGEST_URL (url): ${url} replied with ${reason}`,
    cause: 'Something else answered: a 404, a redirect, or a page. Entries wait.',
    remedy: 'Correct `url`: [wrong URL](troubleshooting.md#wrong-key-or-url).',
  },
  everythingRejected: {
    code: 'REJECTED',
    text: (reason) => `the log service or a gateway in front of it rejects every batch: ${reason}; check url`,
    cause: 'Every batch gets status 400, 413 or 422.',
    remedy: "Check the path in `url`, and the gateway's size limit and filters.",
  },
  unavailable: {
    code: 'UNAVAILABLE',
    text: (reason) => `the log service does not accept entries: ${reason}`,
    cause: 'The log service is down, slow, or replies with 5xx.',
    remedy: 'Run `npx pino-ingest doctor`. Entries are sent when the log service is back.',
  },
  cannotSend: {
    code: 'UNAVAILABLE',
    text: (reason) => `cannot send entries: ${reason}`,
    cause: 'This process cannot send requests, for example with too many open files.',
    remedy: 'Follow the message. Entries wait.',
  },
  rateLimited: {
    code: 'RATE_LIMITED',
    text: (reason) => `the log service limits the request rate: ${reason}`,
    cause: 'Status 429.',
    remedy: 'Nothing if it is rare. Otherwise [send less](sampling.md).',
  },
  recovered: {
    text: (destination, seconds) => `${destination} accepts entries again, after ${seconds} s`,
    cause: 'One of the problems above has ended.',
    remedy: 'Nothing.',
  },
  entriesRejected: {
    text: (entries, reason, remedy) => `the log service rejected ${entries}: ${reason}; ${remedy}`,
    cause: 'The log service considers these entries invalid.',
    remedy: 'See [rejected entries](troubleshooting.md#entries-are-rejected).',
  },
  unreadableReply: {
    code: 'MISDIRECTED',
    text: () => 'a reply is not the ingest result of its batch, which is counted as accepted; check url',
    cause: 'A 2xx has no result, or accepts more entries than were sent.',
    remedy: 'Check `url`: if another server replied, these entries are lost.',
  },
  releaseNotRegistered: {
    text: (reason) => `cannot register the release: ${reason}; entries are sent without release_id`,
    cause: 'No version was found, or the registration failed.',
    remedy: 'Fix the cause. After an outage it is tried again.',
  },
} as const satisfies Record<string, Message>

/** NATS fails, or recovers. A failure line ends with the delay before the next attempt. */
export const QUEUE_MESSAGES = {
  credentialsRejected: {
    code: 'AUTH',
    text: (reason) => `NATS rejected the credentials: ${reason}; check nats.credentials`,
    cause: 'The credentials are missing, wrong, expired or revoked.',
    remedy: 'Set valid `nats.credentials` and restart.',
  },
  publishForbidden: {
    code: 'AUTH',
    text: (reason) => `the NATS user is not allowed to publish: ${reason}; check its permissions`,
    cause: 'The user may not publish, or not subscribe to `_INBOX.publisher.>`.',
    remedy: 'Grant the [permissions of applications](fleet-operations.md#tls-and-permissions).',
  },
  queueMisconfigured: {
    code: 'MISDIRECTED',
    text: (reason) => `NATS has no usable stream: ${reason}; run pino-ingest forward init, and check nats.stream`,
    cause: 'The stream is missing or has other subjects, or JetStream is off.',
    remedy: 'Create the stream: `npx pino-ingest forward init`.',
  },
  queueUnavailable: {
    code: 'UNAVAILABLE',
    text: (reason) => `NATS does not accept entries: ${reason}`,
    cause: 'No server is reachable, or no acknowledgement arrived within 3 s.',
    remedy: 'Run `npx pino-ingest doctor`. Entries are sent when the servers are back.',
  },
  queueFull: {
    code: 'UNAVAILABLE',
    text: (reason) => `the NATS stream is full: ${reason}; check that pino-ingest forward is running`,
    cause: "No forwarder runs, they are too slow, or the servers' storage is full.",
    remedy: "Start forwarders, or raise the stream's limit.",
  },
} as const satisfies Record<string, Message>

/** Entries are dropped. The line starts with `dropped … (reason): `. */
export const DROP_MESSAGES = {
  bufferFull: {
    reason: 'buffer',
    text: (maxBytes, level, reason) =>
      `maxBufferBytes ${maxBytes} was reached, so the oldest batch (highest level ${level}) was dropped; ${reason}`,
    cause: 'The log service accepts too little, and there is no spool or its disk fails.',
    remedy: 'Enable `spool`, raise `maxBufferBytes`, or [send less](sampling.md).',
  },
  nearlyFull: {
    text: (limit) => `${limit} is nearly reached, new debug and info entries are dropped`,
    cause: 'The rest of the space is reserved for higher levels.',
    remedy: 'Raise the limit, or find out why entries wait.',
  },
  spoolFull: {
    reason: 'spool',
    text: () => 'spool.maxBytes was reached, so the oldest entries were deleted',
    cause: 'The log service accepts less than the application logs.',
    remedy: 'Raise `spool.maxBytes`, or find out why entries wait.',
  },
  tooOld: {
    reason: 'age',
    text: (maxAgeMs) => `older than spool.maxAgeMs ${maxAgeMs}`,
    cause: 'The entries were not accepted within this time.',
    remedy: 'Raise `spool.maxAgeMs`.',
  },
  notDelivered: {
    reason: 'shutdown',
    text: (timeoutMs, reason) =>
      `not delivered before the process exited (shutdownTimeoutMs ${timeoutMs}), and not on disk; last failure: ${reason}`,
    cause: 'The entries were only in memory.',
    remedy: 'Enable `spool`, or raise `shutdownTimeoutMs`.',
  },
  processExited: {
    reason: 'shutdown',
    text: (reason) => `not delivered before the process exited; last failure: ${reason}`,
    cause: '`process.exit()` was called with `ingestStream()`, without a spool.',
    remedy: 'Call `await flush(logger)` before `process.exit()`, or enable `spool`.',
  },
  workerEnded: {
    reason: 'shutdown',
    text: () => 'in the memory of a worker that ended; a new one was started',
    cause: 'The entries were not yet on disk.',
    remedy: 'See [worker replaced](#worker-replaced).',
  },
  loggedAfterClose: {
    reason: 'shutdown',
    text: () => 'logged after the transport was closed',
    cause: 'The application ended the stream before its last record.',
    remedy: 'End the stream last, or enable `spool`.',
  },
  fileDamaged: {
    reason: 'damaged',
    text: (path) => `the data in ${path} is damaged or missing`,
    cause: 'A power failure, a faulty disk or another program damaged the file.',
    remedy: 'Check the disk, or set [`durability`](spool.md#power-failure).',
  },
  filesDeleted: {
    reason: 'damaged',
    text: (path) => `another process deleted ${path}`,
    cause: 'The files had the only copy of these entries.',
    remedy: 'Set `spool.dir` to a folder that no program cleans up.',
  },
  deletedWhileWaiting: {
    text: () => 'the file on disk was deleted before the entries were sent',
    cause: 'The spool was full, or another process took over the entries.',
    remedy: 'Raise `spool.maxBytes`.',
  },
} as const satisfies Record<string, Message & { readonly reason?: DropReason }>

/** The spool. */
export const SPOOL_MESSAGES = {
  kept: {
    text: (entries, reason) =>
      `${entries} not yet acknowledged; kept on disk and sent at the next start with this URL and key; after a change, see \`npx pino-ingest spool ls\`; last failure: ${reason}`,
    cause: 'The process ended before the log service accepted them.',
    remedy: 'Start the application again, or run `npx pino-ingest spool ls`, then `spool replay ID`.',
  },
  keptForKey: {
    text: (entries) =>
      `${entries} kept on disk under the rejected key; with the right key, run npx pino-ingest spool ls, then spool replay ID`,
    cause: 'The process ended while the log service rejected the key.',
    remedy: 'Correct the key: [wrong key](troubleshooting.md#wrong-key-or-url).',
  },
  notWritable: {
    code: 'SPOOL',
    text: (reason) =>
      `cannot write entries to disk: ${reason}; they stay in memory, and writing is retried. Free space, or set spool.dir or PINO_INGEST_SPOOL_DIR to a writable folder`,
    cause: "The disk is full or read-only, or the folder is another user's.",
    remedy: 'Fix the cause: [the disk](troubleshooting.md#the-spool-cannot-be-written).',
  },
  limitReachedByOthers: {
    code: 'SPOOL',
    text: (maxBytes, path, bytes) =>
      `other processes use ${bytes} bytes in ${path}, which reaches spool.maxBytes ${maxBytes}; entries stay in memory, and writing is retried`,
    cause: 'Processes that share the folder filled it.',
    remedy: 'Raise `spool.maxBytes`, or give each its own `spool.dir`.',
  },
  writableAgain: {
    text: () => 'writing entries to disk has resumed',
    cause: 'The disk works again, or has space.',
    remedy: 'Nothing.',
  },
  notReadable: {
    code: 'SPOOL',
    text: (reason) => `cannot read entries from disk, retrying every 5 s: ${reason}`,
    cause: 'Too many files are open, or the disk fails.',
    remedy: 'Fix the cause. For `EMFILE`, raise `ulimit -n`.',
  },
  notSynchronized: {
    code: 'SPOOL',
    text: (reason) => `a power failure may lose entries on disk: ${reason}`,
    cause: "The disk did not confirm a write with `durability: 'power'`.",
    remedy: 'Check the disk.',
  },
  failed: {
    code: 'SPOOL',
    text: (reason) => `spool file error, entries may be sent twice: ${reason}`,
    cause: 'A file could not be read, written or deleted.',
    remedy: 'Fix the cause in the message.',
  },
  bytesDamaged: {
    code: 'SPOOL',
    text: (bytes, path) => `${bytes} bytes of ${path} are damaged and were skipped`,
    cause: 'A power failure, a faulty disk or another program damaged the file.',
    remedy: 'Check the disk.',
  },
  deadLettersNotSaved: {
    code: 'SPOOL',
    text: (entries, reason) => `cannot write ${entries} rejected entries to disk: ${reason}`,
    cause: 'The entries count as rejected, and are not stored.',
    remedy: 'Check the disk.',
  },
  otherVersion: {
    code: 'SPOOL',
    text: (path) => `another version of pino-ingest wrote ${path}; it is not read`,
    cause: 'The file has an older or newer format.',
    remedy: "Send the file's entries with `spool replay` of that version.",
  },
  otherDestination: {
    text: (bytes, paths) =>
      `${bytes} bytes of entries for another URL or key are not sent: ${paths}. After a change of the key, set PINO_INGEST_PREVIOUS_API_KEYS to the former key; otherwise use npx pino-ingest spool ls and spool replay`,
    cause: 'The entries were logged with another URL or key.',
    remedy: 'Send or delete them: [after a change of the key](spool.md#after-a-change-of-the-key).',
  },
  otherDestinationExpired: {
    text: (bytes, path) => `deleted ${bytes} bytes of expired entries for another URL or key: ${path}`,
    cause: 'No process sent them within `spool.maxAgeMs`, at least 7 days.',
    remedy: 'Nothing.',
  },
  takenOver: {
    text: (entries) =>
      `while this process was suspended, another one took over its entries on disk (${entries} entries)`,
    cause: 'The other process sends the entries. A few may arrive twice.',
    remedy: 'Nothing.',
  },
} as const satisfies Record<string, Message>

/** The application's code and settings. */
export const APPLICATION_MESSAGES = {
  urlMissing: {
    code: 'CONFIG',
    text: () => 'no URL is set, so entries are discarded; see them with: npx pino-ingest dev -- node app.js',
    cause: 'Neither `url` nor `nats` is set.',
    remedy: 'Run `npx pino-ingest dev -- node app.js`, or set `PINO_INGEST_URL` and `PINO_INGEST_API_KEY`.',
  },
  keyWithNats: {
    code: 'CONFIG',
    text: (names) =>
      `${names} ignored with nats, since only pino-ingest forward sends requests to the log service; helpers such as sendFeedback() still use these options`,
    cause: 'A key or headers are set together with `nats`.',
    remedy: 'Unset them if helpers such as `sendFeedback()` do not need them.',
  },
  variableUnknown: {
    text: (names) => `ignored unknown environment variables: ${names}. docs/options.md lists all variables`,
    cause: 'The package does not read this variable.',
    remedy: 'Correct its name, or unset it: [all variables](options.md).',
  },
  levelUnknown: {
    code: 'CONFIG',
    text: () =>
      '100 consecutive records have no recognized level under "level" and were mapped to info; set customLevels of the option pino to its names and numbers',
    cause: 'Another logger or `formatters.level` writes the level differently.',
    remedy: 'Write it under `level`, or set `customLevels` of the option [`pino`](options.md).',
  },
  recordIncomplete: {
    code: 'INVALID',
    text: (chars) => `a record of ${chars} characters is incomplete; only the members before the cut are sent`,
    cause: 'The record has more than 16 Mi characters, or its writer was killed.',
    remedy: 'Log less in one record.',
  },
  inputUnsupported: {
    code: 'INVALID',
    text: (form, command) =>
      `the input is ${form}, which is not supported; each line is sent as one entry. Use ${command}.`,
    cause: 'The input is UTF-16, or journal JSON without its long messages.',
    remedy: 'Run the command that the message names: [supported input](cli.md).',
  },
  requestsNotUnderstood: {
    code: 'CONFIG',
    text: (count) =>
      `${count} consecutive records look like HTTP requests but produced no request log. Set customAttributeKeys of the option pino to the keys that they use.`,
    cause: 'The keys of these records are not recognized.',
    remedy:
      "Set `customAttributeKeys` of the option [`pino`](options.md); its `reqId` is also Fastify's `requestIdLogLabel`.",
  },
  hookFailed: {
    code: 'CONFIG',
    text: (fault) => `beforeSend ${fault}; the entry is sent unchanged`,
    cause: '`beforeSend` threw, or returned nothing, a promise, or no valid entry.',
    remedy: 'Fix the hook.',
  },
  workerReplaced: {
    text: (cause) => `the worker ended (${cause}); a new one was started, and sends what is on disk`,
    cause: 'The worker ran out of memory, was terminated, or another target ended it.',
    remedy: 'Remove the cause that the line names.',
  },
  workerNotReplaced: {
    text: (cause, reason) =>
      `the worker ended (${cause}) and is not restarted: ${reason}. Remove the cause and restart the application; until then, records are lost.`,
    cause: 'Workers end again and again, or a new one cannot start.',
    remedy: 'Remove the cause, and restart the application.',
  },
  workerLost: {
    text: (count, reason) => `${count === 1 ? '1 record is' : `${count} records are`} lost: ${reason}`,
    cause: 'The worker had ended, or a listener for `exit` logged after it.',
    remedy: 'See [worker replaced](#worker-replaced). Add listeners for `exit` before the logger is created.',
  },
  manyWorkers: {
    text: (count) =>
      `${count} workers run in this process, each with its own thread. Create one logger per process, and use logger.child().`,
    cause: 'A logger is created for each request, job or module.',
    remedy: 'Create one logger, and use `logger.child()`.',
  },
  listenerThrew: {
    text: (event, error) => `a listener of ${event} threw: ${error}`,
    cause: 'With `ingestStream()`, your listener of the event threw.',
    remedy: 'Fix the listener.',
  },
} as const satisfies Record<string, Message>
