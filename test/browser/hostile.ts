/** Puts a text into every text field of every endpoint: in accepted records, and in requests that are refused for it. */
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { Feedback, Release, RequestLog } from '../../src/protocol/resources.js'

/** Creates own properties of any name; assigning `__proto__` would set the prototype. */
function withKeys(text: string, value: unknown): Record<string, never> {
  return Object.fromEntries([
    [text, value],
    [`${text}.`, [text]],
    ['<i>key</i>', { [`<b>${text.slice(0, 100)}`]: text }],
  ]) as Record<string, never>
}

/** @param eventId id for feedback */
export function hostileEntry(text: string, eventId: string, timestamp: string): LogEntry {
  return {
    level: 'error',
    timestamp,
    message: text,
    service: text,
    environment: text,
    version: text,
    user_id: text,
    user: { id: text, email: text, name: text },
    metadata: { ...withKeys(text, { inner: text }), event_id: eventId },
    tags: [text, `${text}!`],
    error: {
      type: text,
      message: text,
      stack: `${text}: ${text}\n    at ${text} (${text}:1:2)\n    at f (/srv/${text}.js:3:4)\ncaused by: ${text}`,
    },
    request: { method: text, url: text, path: text, status_code: 500, duration_ms: 1, ip: text, user_agent: text },
    trace: { trace_id: text, span_id: text, parent_span_id: text },
    deploy: { commit: text, branch: text, deployed_by: text },
    breadcrumbs: [{ type: text, category: text, message: text, level: text, timestamp, data: withKeys(text, text) }],
    fingerprint: text,
    action: text,
    session_id: text,
    release_id: text,
    request_id: text,
    source: text,
    notify: true,
    notify_channels: [text],
  }
}

export function hostileRequest(text: string, timestamp: string): RequestLog {
  return {
    method: text,
    path: text,
    route: text,
    host: text,
    service: text,
    environment: text,
    request_id: text,
    status_code: 500,
    duration_ms: 12,
    timestamp,
  }
}

export function hostileFeedback(text: string, eventId: string): Feedback {
  return { event_id: eventId, comments: text, name: text, email: text }
}

export function hostileRelease(text: string): Release {
  return { version: text, commit_hash: text, branch: text, deployed_by: text, changelog: text }
}

/** Creates bodies that the service refuses, with the text as batch id, as value and as field name; other endpoints take turns. */
export function refusedBodies(
  text: string,
  timestamp: string,
  turn: number,
): readonly { path: string; body: unknown }[] {
  const entry = { level: 'info', message: text, timestamp }
  const named = (value: unknown) => Object.fromEntries([[text, value]]) as Record<string, unknown>
  const others = [
    { path: 'ingest/requests', body: { requests: text, ...named(text) } },
    { path: 'feedback', body: { event_id: 1, ...named(text) } },
    { path: 'releases/register', body: { version: 1, ...named(text) } },
  ]
  const logs = [
    { ...entry, level: text },
    { ...entry, ...named(text) },
  ]
  return [
    { path: 'ingest', body: { batch_id: text, logs } },
    { path: 'ingest', body: { batch_id: text, logs: [{ ...entry, metadata: named('\0') }] } },
    ...others.slice(turn % others.length).slice(0, 1),
  ]
}
