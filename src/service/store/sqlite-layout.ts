/** The tables of the store's file. */
import { EQUALITY_NAMES } from '../query/query-filters.js'

/** Marks the file as ours. */
export const APPLICATION_ID = 0x70696e67
export const VERSION = 2

/**
 * `record` has everything, by kind. Beside it stands what queries read: `entry` in small columns, which a scan passes
 * in 10 ms for 100,000; its text for searching apart, since it is most of the bytes; request logs with all that their
 * statistics need in one index, in its order. Few indices: each costs every append more than it saves a query.
 *
 * - `entry.level`: place in `LEVELS`. `is_failure`: 1 for what error groups are made of.
 * - `entry.tags`: a JSON array, null where there is none.
 * - `request.ms`: as JavaScript writes the number, which SQLite's own writing would round.
 */
export const LAYOUT = `
  create table record (
    seq integer primary key, kind text not null, bytes integer not null, received_ms integer not null, json text not null
  );
  create index record_kind on record (kind, seq, bytes);
  create index record_received on record (received_ms);
  create table entry (
    seq integer primary key, level integer not null, time_ms integer not null, is_failure integer not null,
    fingerprint text, event_id text, ${EQUALITY_NAMES.map((name) => `${name} text`).join(', ')}, user text, tags text
  );
  create table search (seq integer primary key, text text not null);
  create table request (
    seq integer primary key, time_ms integer not null, status integer not null, ms text not null,
    method text not null, route text not null, service text, environment text
  );
  create index request_route on request (method, route, ms, time_ms, status, service, environment);
  create table state (name text primary key, value integer not null) without rowid;
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${VERSION};
`
