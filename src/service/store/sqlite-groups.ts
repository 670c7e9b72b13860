/** Failures by fingerprint, asked of the database. */
import { summarizeMembers } from '../analytics/error-group-details.js'
import type { GroupMember } from '../analytics/error-group-details.js'
import type { EntryFilter } from '../query/query-filters.js'
import type { Database } from './sqlite-database.js'
import type { EntryScan } from './sqlite-scan.js'
import { eachOf } from './sqlite-rows.js'
import type { GroupDetails, GroupSummary, StoredEntry, Trend } from './store.js'

export function groupHeads(db: Database, scan: EntryScan, filter: EntryFilter): GroupSummary[] {
  const { sql, values, seq } = scan.rows(filter, {}, [['is_failure = 1']])
  const columns = `fingerprint, count(*) as count, min(time_ms) as first, max(time_ms) as last, max(${seq}) as newest`
  const rows = db.prepare(`select ${columns} ${sql} group by fingerprint`).all(...values)
  return rows.map(({ fingerprint, count, first, last, newest }) => ({
    fingerprint: String(fingerprint),
    count: Number(count),
    firstMs: Number(first),
    lastMs: Number(last),
    newestSeq: Number(newest),
  }))
}

export function groupBodies(
  db: Database,
  scan: EntryScan,
  filter: EntryFilter,
  heads: readonly GroupSummary[],
  trend: Trend,
): GroupDetails[] {
  const named = JSON.stringify(heads.map(({ fingerprint }) => fingerprint))
  const rows = scan.rows(filter, {}, [['is_failure = 1'], ['fingerprint in (select value from json_each(?))', named]])
  const members = eachOf<Row>(db, 'json_array(fingerprint, time_ms, service, version, user)', rows).map(memberOf)
  const newest = db.prepare('select json from record where seq = ?')
  return summarizeMembers(heads, members, trend, (seq) => JSON.parse(String(newest.get(seq)?.['json'])) as StoredEntry)
}

type Row = [string, number, string | null, string | null, string | null]

function memberOf([group, timeMs, service, version, user]: Row): GroupMember {
  return { group, timeMs, service: service ?? undefined, version: version ?? undefined, user: user ?? undefined }
}
