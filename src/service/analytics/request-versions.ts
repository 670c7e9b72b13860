/** The version that served a request: request logs do not have one (pure). */
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'

/**
 * The version of each request: that of an entry of its service with its `request_id`, else that of the last entry of its
 * service and environment until then. An id can be passed between services of other versions. Both lists by time. Undefined where neither is known.
 */
export function findRequestVersions(
  requests: readonly IndexedRequest[],
  entries: readonly IndexedEntry[],
): readonly (string | undefined)[] {
  const byRequestId = new Map<string, Map<string, string>>()
  for (const { request_id: id, version, service = '' } of entries) {
    if (id === undefined || version === undefined) continue
    const ofService = byRequestId.get(service)
    if (ofService === undefined) byRequestId.set(service, new Map([[id, version]]))
    else ofService.set(id, version)
  }
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
    versions.push(byRequestId.get(service)?.get(requestId) ?? latest.get(service)?.get(environment)?.version)
  }
  return versions
}

/** Changes the member of the map, which is faster than `Map.set`. */
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
