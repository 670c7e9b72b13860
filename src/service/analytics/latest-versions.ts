/** Orders the versions of services by first entry, and finds failures that are new in the latest version (pure). */
import type { VersionSummary } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'

/**
 * Fingerprints of failures whose first entry has the latest version of its service. Services with only one known version are
 * skipped: all their failures would be new.
 * @param entries sorted by time
 */
export function findNewFingerprints(entries: readonly IndexedEntry[]): ReadonlySet<string> {
  const newest = new Map<string | null, string>()
  const latest = new Map<string | null, string>()
  for (const { service, version } of summarizeVersions(entries, new Map())) {
    const newer = newest.get(service)
    if (newer === undefined) newest.set(service, version)
    else latest.set(service, newer)
  }
  const known = new Set<string>()
  const found = new Set<string>()
  for (const { isFailure, fingerprint, service, version } of entries) {
    if (!isFailure || fingerprint === undefined || known.has(fingerprint)) continue
    known.add(fingerprint)
    if (version !== undefined && version === latest.get(service || null)) found.add(fingerprint)
  }
  return found
}

/**
 * Lists the versions of each service, most recently introduced first.
 * @param entries sorted by time @param registered `release_id` by version
 */
export function summarizeVersions(
  entries: readonly IndexedEntry[],
  registered: ReadonlyMap<string, string>,
): VersionSummary[] {
  const versions = new Map<string, { first: IndexedEntry; last: IndexedEntry; count: number; id: string | undefined }>()
  for (const entry of entries) {
    const { service, version, release_id: id } = entry
    if (version === undefined) continue
    const key = `${service ?? ''}\0${version}`
    const known = versions.get(key)
    if (known === undefined) versions.set(key, { first: entry, last: entry, count: 1, id })
    else {
      known.last = entry
      known.count++
      known.id ??= id
    }
  }
  return [...versions.values()].toReversed().map(({ first, last, count, id }) => ({
    service: first.service || null,
    version: first.version ?? '',
    first_seen: new Date(first.timeMs).toISOString(),
    last_seen: new Date(last.timeMs).toISOString(),
    entries: count,
    release_id: registered.get(first.version ?? '') ?? id ?? null,
  }))
}
