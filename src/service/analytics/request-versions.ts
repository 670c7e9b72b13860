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
  const byRequestId = new Map<string, string>()
  for (const { request_id: id, version, service } of entries)
    if (id !== undefined && version !== undefined) byRequestId.set(toKey(service, id), version)
  const latest = new Map<string, string>()
  let at = 0
  return requests.map(({ timeMs, service, environment, requestId }) => {
    for (let entry = entries[at]; entry !== undefined && entry.timeMs <= timeMs; entry = entries[++at])
      if (entry.version !== undefined) latest.set(toKey(entry.service, entry.environment), entry.version)
    return byRequestId.get(toKey(service, requestId)) ?? latest.get(toKey(service, environment))
  })
}

function toKey(service = '', other = ''): string {
  return `${service}\0${other}`
}
