/**
 * What the service accepts, field by field (interface: Resources and their fields). Written from the interface alone:
 * it shares nothing with the code that builds entries, so that it judges that code independently.
 */
import { LEVELS } from '../../protocol/log-entry.js'
import type { Breadcrumb, EntryDeploy, EntryError, EntryPerf, EntryRequest } from '../../protocol/log-entry.js'
import type { EntryTrace, EntryUser, LogEntry } from '../../protocol/log-entry.js'
import type { IngestBatch } from '../../protocol/ingest-result.js'
import { MAX_LOGS_PER_REQUEST } from '../../protocol/limits.js'
import type { Feedback, Release, RequestLog, RequestLogs } from '../../protocol/resources.js'
import {
  boolean,
  freeForm,
  integer,
  list,
  number,
  object,
  oneOf,
  text,
  time,
  utcTime,
  NO_PROBLEMS,
} from './validators.js'
import type { Problem, Validator } from './validators.js'

const ENTRY_FIELDS: Record<keyof LogEntry, Validator> = {
  level: oneOf(LEVELS),
  message: text,
  timestamp: utcTime,
  service: text,
  environment: text,
  version: text,
  user_id: text,
  user: object<keyof EntryUser>({ id: text, email: text, name: text }),
  metadata: freeForm,
  tags: list(text),
  error: object<keyof EntryError>({ type: text, message: text, stack: text }),
  request: object<keyof EntryRequest>({
    method: text,
    url: text,
    path: text,
    status_code: integer,
    duration_ms: number,
    ip: text,
    user_agent: text,
  }),
  perf: object<keyof EntryPerf>({ duration_ms: number, memory_mb: number, db_queries: number, cache_hits: number }),
  trace: object<keyof EntryTrace>({ trace_id: text, span_id: text, parent_span_id: text }),
  deploy: object<keyof EntryDeploy>({ commit: text, branch: text, deployed_by: text }),
  breadcrumbs: list(
    object<keyof Breadcrumb>({
      type: text,
      category: text,
      message: text,
      level: text,
      timestamp: time,
      data: freeForm,
    }),
  ),
  fingerprint: text,
  action: text,
  session_id: text,
  release_id: text,
  request_id: text,
  source: text,
  notify: boolean,
  notify_channels: list(text),
}

const entry = object(ENTRY_FIELDS, ['level', 'message', 'timestamp'])

/** `logs` itself; its items are judged one by one with {@link validateEntry}. */
const batch = object<keyof IngestBatch>({ batch_id: text, logs: list(() => NO_PROBLEMS, MAX_LOGS_PER_REQUEST) }, [
  'logs',
])

const requestLog = object<keyof RequestLog>(
  {
    method: text,
    path: text,
    status_code: integer,
    duration_ms: number,
    request_id: text,
    timestamp: time,
    route: text,
    host: text,
    service: text,
    environment: text,
  },
  ['method', 'path', 'status_code', 'duration_ms', 'request_id', 'timestamp'],
)

const requestLogs = object<keyof RequestLogs>({ requests: list(requestLog) }, ['requests'])

const feedback = object<keyof Feedback>({ event_id: text, comments: text, name: text, email: text }, [
  'event_id',
  'comments',
])

const release = object<keyof Release>(
  { version: text, commit_hash: text, branch: text, deployed_by: text, changelog: text },
  ['version'],
)

/** Everything wrong with one log entry, at most 20 problems; an empty list where it is valid (interface: Log entry). */
export function validateEntry(value: unknown): readonly Problem[] {
  return entry(value)
}

/** The same for the body of `POST /ingest`, without the entries in it. */
export function validateBatch(value: unknown): readonly Problem[] {
  return batch(value)
}

/** The same for the body of `POST /ingest/requests`. */
export function validateRequestLogs(value: unknown): readonly Problem[] {
  return requestLogs(value)
}

/** The same for the body of `POST /feedback`. */
export function validateFeedback(value: unknown): readonly Problem[] {
  return feedback(value)
}

/** The same for the body of `POST /releases/register`. */
export function validateRelease(value: unknown): readonly Problem[] {
  return release(value)
}
