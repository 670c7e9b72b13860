/**
 * Validates bodies field by field (interface: Resources and their fields). Written from the interface alone: sharing no code with the
 * entry builder makes it an independent check of the builder.
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
  NO_PROBLEMS,
  number,
  object,
  oneOf,
  text,
  time,
  utcTime,
} from './validators.js'
import type { EntryViolation, Validator } from './validators.js'

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

/** Validates the body of `POST /ingest` except the items of `logs`; {@link validateEntry} validates those one by one. */
export const validateBatch = object<keyof IngestBatch>(
  { batch_id: text, logs: list(() => NO_PROBLEMS, MAX_LOGS_PER_REQUEST) },
  ['logs'],
)

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

export const validateRequestLogs = object<keyof RequestLogs>({ requests: list(requestLog) }, ['requests'])

export const validateFeedback = object<keyof Feedback>({ event_id: text, comments: text, name: text, email: text }, [
  'event_id',
  'comments',
])

export const validateRelease = object<keyof Release>(
  { version: text, commit_hash: text, branch: text, deployed_by: text, changelog: text },
  ['version'],
)

/** The problems of one log entry, at most 20; none if it is valid (docs/protocol.md, Log entry). */
export function validateEntry(value: unknown): readonly EntryViolation[] {
  return entry(value)
}
