/** Visits the texts of a record that a search covers; used for the search text and for regular expressions (pure). */
import type { Json, LogEntry } from '../../protocol/log-entry.js'
import type { RequestLog } from '../../protocol/resources.js'

type Visit = (text: string) => boolean

/** Calls `visit` for each text until it returns true. @returns whether it returned true */
export function testEntryTexts(entry: LogEntry, visit: Visit): boolean {
  const { error, request, user, trace, deploy, tags, metadata, breadcrumbs } = entry
  return (
    visit(entry.message) ||
    some(visit, entry.service, entry.action, entry.source, entry.environment, entry.version, entry.user_id) ||
    (error !== undefined && some(visit, error.type, error.message, error.stack)) ||
    (user !== undefined && some(visit, user.id, user.email, user.name)) ||
    (request !== undefined &&
      (some(visit, request.method, request.url, request.path, request.ip, request.user_agent) ||
        someJson(request.status_code, visit))) ||
    (trace !== undefined && some(visit, trace.trace_id, trace.span_id, trace.parent_span_id)) ||
    some(visit, entry.request_id, entry.session_id, entry.release_id, entry.fingerprint) ||
    (deploy !== undefined && some(visit, deploy.commit, deploy.branch, deploy.deployed_by)) ||
    (tags !== undefined && tags.some(visit)) ||
    (metadata !== undefined && someJson(metadata, visit)) ||
    (breadcrumbs !== undefined &&
      breadcrumbs.some(
        ({ category, message, data }) =>
          some(visit, category, message) || (data !== undefined && someJson(data, visit)),
      ))
  )
}

/** Like `testEntryTexts`, for a request log. */
export function testRequestTexts(request: RequestLog, visit: Visit): boolean {
  const { method, path, route, request_id, service, environment, host, status_code } = request
  return some(visit, method, path, route, request_id, service, environment, host, String(status_code))
}

/** Joins the texts in lower case. U+001F ends each text and prevents matches across two texts. */
export function joinTexts(visitAll: (visit: Visit) => void): string {
  let joined = ''
  visitAll((text) => {
    joined += `${text}\u001f`
    return false
  })
  return foldCase(joined)
}

/** Folds case for comparisons. Replaces final sigma, which `toLowerCase()` produces at the end of a Greek word. */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

function some(visit: Visit, ...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text !== undefined && visit(text))
}

function someJson(value: Json | undefined, visit: Visit): boolean {
  if (value === undefined) return false
  if (typeof value !== 'object' || value === null) return visit(String(value))
  if (Array.isArray(value)) return value.some((item) => someJson(item, visit))
  for (const key in value) if (visit(key) || someJson(value[key], visit)) return true
  return false
}

const MAX_NAMES = 10_000
const names = new Map<string, string>()

/** Equal names become one string object, which maps and comparisons find faster by identity. */
export function intern<T extends string | undefined>(name: T): T {
  if (name === undefined) return name
  const known = names.get(name)
  if (known !== undefined) return known as T
  // Limits the memory for names that differ in every record.
  if (names.size >= MAX_NAMES) names.clear()
  names.set(name, name)
  return name
}
