/** Orders the versions of services by first entry, and finds failures that are new in the latest version (pure). */
import type { VersionSummary } from '../query/api-types.js'
import type { IndexedEntry } from '../store/indexed-record.js'

interface ServiceVersions {
  readonly seen: Set<string>
  /** The version whose first entry is the most recent. */
  latest: string
}

/**
 * Fingerprints of failures whose first entry has the latest version of its service. Services with only one known version are
 * skipped: all their failures would be new.
 * @param entries sorted by time
 */
export function findNewFingerprints(entries: readonly IndexedEntry[]): ReadonlySet<string> {
  const services = findServiceVersions(entries)
  const known = new Set<string>()
  const found = new Set<string>()
  for (const { isFailure, fingerprint, service = '', version } of entries) {
    if (!isFailure || fingerprint === undefined || known.has(fingerprint)) continue
    known.add(fingerprint)
    const versions = services.get(service)
    if (version !== undefined && versions !== undefined && versions.seen.size > 1 && version === versions.latest)
      found.add(fingerprint)
  }
  return found
}

function findServiceVersions(entries: readonly IndexedEntry[]): ReadonlyMap<string, ServiceVersions> {
  const services = new Map<string, ServiceVersions>()
  for (const { service = '', version } of entries) {
    if (version === undefined) continue
    const known = services.get(service)
    if (known === undefined) services.set(service, { seen: new Set([version]), latest: version })
    // Searches the set only when the version changes.
    else if (version !== known.latest && !known.seen.has(version)) {
      known.seen.add(version)
      known.latest = version
    }
  }
  return services
}

/**
 * Lists all versions in the entries, most recently introduced first.
 * @param entries sorted by time @param registered `release_id` by version
 */
export function summarizeVersions(
  entries: readonly IndexedEntry[],
  registered: ReadonlyMap<string, string>,
): VersionSummary[] {
  const versions = new Map<
    string,
    { firstMs: number; lastMs: number; entries: number; releaseId: string | undefined }
  >()
  for (const { version, timeMs, release_id: releaseId } of entries) {
    if (version === undefined) continue
    const known = versions.get(version)
    if (known === undefined) versions.set(version, { firstMs: timeMs, lastMs: timeMs, entries: 1, releaseId })
    else {
      known.lastMs = timeMs
      known.entries++
      known.releaseId ??= releaseId
    }
  }
  const oldestFirst = [...versions].map(([version, { firstMs, lastMs, entries: count, releaseId }]) => ({
    version,
    first_seen: new Date(firstMs).toISOString(),
    last_seen: new Date(lastMs).toISOString(),
    entries: count,
    release_id: registered.get(version) ?? releaseId ?? null,
  }))
  return oldestFirst.toReversed()
}
