/** The version that served a request: request logs do not have one (pure). */
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'

/**
 * The version of each request: that of an entry with its `request_id`, else that of the last entry of its service and environment
 * until then. Both lists by time. Undefined where neither is known.
 */
export function findRequestVersions(
  requests: readonly IndexedRequest[],
  entries: readonly IndexedEntry[],
): readonly (string | undefined)[] {
  const byRequestId = new Map<string, string>()
  for (const { request_id: id, version } of entries)
    if (id !== undefined && version !== undefined) byRequestId.set(id, version)
  // By service, then by environment.
  const latest = new Map<string, Map<string, { version: string }>>()
  const versions: (string | undefined)[] = []
  let at = 0
  for (const { timeMs, service = '', environment = '', requestId } of requests) {
    for (; at < entries.length; at++) {
      const entry = entries[at] as IndexedEntry
      if (entry.timeMs > timeMs) break
      if (entry.version !== undefined) remember(latest, entry, entry.version)
    }
    versions.push(byRequestId.get(requestId) ?? latest.get(service)?.get(environment)?.version)
  }
  return versions
}

/** Changes the known version in its place, since setting a member of a map takes longer. */
function remember(
  latest: Map<string, Map<string, { version: string }>>,
  { service = '', environment = '' }: IndexedEntry,
  version: string,
): void {
  const environments = latest.get(service)
  const known = environments?.get(environment)
  if (known !== undefined) known.version = version
  else if (environments !== undefined) environments.set(environment, { version })
  else latest.set(service, new Map([[environment, { version }]]))
}
