/** Finds the version that served a request, because request logs have no version (pure). */
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'

/**
 * The version of each request: taken from an entry of the same service with the same `request_id`, else from the last earlier entry of
 * the same service and environment, else undefined. The service must match because services pass ids on to each other. Both lists are
 * sorted by time.
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
  // Keys: service, then environment.
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

/** Mutates the value in the map, which is faster than `Map.set`. */
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
