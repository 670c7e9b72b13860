/** Lists the fields of an entry for the panel, with their names in the query language (pure). */
import type { LogEntry } from '../../../protocol/log-entry.js'
import { formatDuration } from '../view-format.js'
import { createFacts } from './fact.js'
import type { Fact } from './fact.js'

export function listRequestFacts({ request }: LogEntry): readonly Fact[] {
  if (request === undefined) return []
  const { method, path, url, status_code: status, duration_ms: durationMs, ip, user_agent: userAgent } = request
  return createFacts([
    ['Method', 'method', method],
    ['Path', 'path', path],
    ['URL', 'url', url === path ? undefined : url],
    ['Status', 'status', status],
    ['Duration', 'duration', durationMs, durationText(durationMs)],
    ['IP', 'ip', ip],
    ['User agent', 'user_agent', userAgent],
  ])
}

export function listUserFacts({ user, user_id: userId, session_id: sessionId }: LogEntry): readonly Fact[] {
  return createFacts([
    ['Id', 'user', user?.id],
    ['User id', 'user', userId === user?.id ? undefined : userId],
    ['Name', 'user.name', user?.name],
    ['E-mail', 'user.email', user?.email],
    ['Session', 'session_id', sessionId],
  ])
}

export function listPerfFacts({ perf }: LogEntry): readonly Fact[] {
  if (perf === undefined) return []
  const { duration_ms: durationMs, memory_mb: memory } = perf
  return createFacts([
    ['Duration', 'perf.duration_ms', durationMs, durationText(durationMs)],
    ['Memory', 'perf.memory_mb', memory, memory === undefined ? undefined : `${memory} MB`],
    ['Database queries', 'perf.db_queries', perf.db_queries],
    ['Cache hits', 'perf.cache_hits', perf.cache_hits],
  ])
}

/** Lists ids and origins. @param group computed fingerprint of an entry that was sent without one */
export function listContextFacts(entry: LogEntry, group: string | undefined): readonly Fact[] {
  const { trace, deploy, fingerprint } = entry
  return [
    ...createFacts([
      ['Action', 'action', entry.action],
      ['Source', 'source', entry.source],
    ]),
    ...linkFact('Request id', 'request_id', entry.request_id),
    ...linkFact('Trace id', 'trace_id', trace?.trace_id),
    ...createFacts([
      ['Span id', 'span_id', trace?.span_id],
      ['Parent span', 'parent_span_id', trace?.parent_span_id],
    ]),
    ...linkFact(fingerprint === undefined ? 'Error group' : 'Fingerprint', 'fingerprint', fingerprint ?? group),
    ...linkFact('Release id', 'release_id', entry.release_id),
    ...createFacts([
      ['Commit', 'deploy.commit', deploy?.commit],
      ['Branch', 'deploy.branch', deploy?.branch],
      ['Deployed by', 'deploy.deployed_by', deploy?.deployed_by],
      ['Notify', null, notifyText(entry)],
    ]),
  ]
}

function linkFact(name: string, field: string, value: string | undefined): readonly Fact[] {
  return value === undefined || value === '' ? [] : [{ name, field, value, isLink: true }]
}

function durationText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms)
}

function notifyText({ notify, notify_channels: channels }: LogEntry): string | undefined {
  if (notify === undefined && channels === undefined) return undefined
  const names = channels === undefined || channels.length === 0 ? '' : `: ${channels.slice(0, 20).join(', ')}`
  return `${notify === false ? 'not requested' : 'requested'}${names}`
}
