/** The fields of an entry that the panel lists, and the filters that they belong to (pure). */
import type { LogEntry } from '../../../protocol/log-entry.js'
import { duration } from '../view-format.js'
import type { FilterName } from '../view.js'
import { createFacts } from './fact.js'
import type { Fact } from './fact.js'

export function requestFacts({ request }: LogEntry): readonly Fact[] {
  if (request === undefined) return []
  const { method, path, url, status_code: status, duration_ms: durationMs, ip, user_agent: userAgent } = request
  return createFacts({
    Method: method,
    Path: path,
    URL: url,
    Status: status,
    Duration: durationMs === undefined ? undefined : duration(durationMs),
    IP: ip,
    'User agent': userAgent,
  })
}

export function userFacts({ user, user_id: userId, session_id: sessionId }: LogEntry): readonly Fact[] {
  return createFacts({
    Id: user?.id,
    'User id': userId === user?.id ? undefined : userId,
    Name: user?.name,
    'E-mail': user?.email,
    Session: sessionId,
  })
}

export function perfFacts({ perf }: LogEntry): readonly Fact[] {
  if (perf === undefined) return []
  return createFacts({
    Duration: perf.duration_ms === undefined ? undefined : duration(perf.duration_ms),
    Memory: perf.memory_mb === undefined ? undefined : `${perf.memory_mb} MB`,
    'Database queries': perf.db_queries,
    'Cache hits': perf.cache_hits,
  })
}

/** Ids and origins. `group` is the computed fingerprint of an entry that was sent without one. */
export function contextFacts(entry: LogEntry, group: string | undefined): readonly Fact[] {
  const { trace, deploy, fingerprint } = entry
  return [
    ...createFacts({ Action: entry.action, Source: entry.source }),
    ...filterFact('Request id', 'request_id', entry.request_id),
    ...filterFact('Trace id', 'trace_id', trace?.trace_id),
    ...createFacts({ 'Span id': trace?.span_id, 'Parent span': trace?.parent_span_id }),
    ...filterFact(fingerprint === undefined ? 'Error group' : 'Fingerprint', 'fingerprint', fingerprint ?? group),
    ...filterFact('Release id', 'release_id', entry.release_id),
    ...createFacts({
      Commit: deploy?.commit,
      Branch: deploy?.branch,
      'Deployed by': deploy?.deployed_by,
      Notify: notifyText(entry),
    }),
  ]
}

function filterFact(name: string, filter: FilterName, value: string | undefined): readonly Fact[] {
  return value === undefined || value === '' ? [] : [{ name, value, filter }]
}

function notifyText({ notify, notify_channels: channels }: LogEntry): string | undefined {
  if (notify === undefined && channels === undefined) return undefined
  const names = channels === undefined || channels.length === 0 ? '' : `: ${channels.slice(0, 20).join(', ')}`
  return `${notify === false ? 'not requested' : 'requested'}${names}`
}
