/** The keys of a record that become fields of the entry, or parts of one. */
import { DIALECT_HOLDERS, DIALECT_KEYS } from './dialects.js'
import { STAGE_KEYS, TEXT_FIELDS } from './entry-fields.js'
import type { MappingOptions } from './entry-fields.js'

/** Keys that only the reference path maps. */
export const REFERENCE_KEYS: ReadonlySet<string> = new Set([
  ...['metadata', 'err', 'error', 'stack', 'request', 'response', 'user', 'perf', 'trace', 'deploy', 'breadcrumbs'],
  ...['tags', 'notify', 'notify_channels', 'notifyChannels', 'duration_ms', 'memory_mb', 'db_queries', 'cache_hits'],
])

/** Keys that become a field of the entry, or a part of one, in pino's own format. */
export const ENTRY_KEYS: ReadonlySet<string> = new Set([
  ...['level', 'time', 'metadata'],
  ...[...TEXT_FIELDS, ...STAGE_KEYS].flatMap(([, keys]) => keys),
])

/** Whether the reference path may map a value under this key. */
export function isMappedKey(key: string, { messageKey, errorKey, requestKeys }: MappingOptions): boolean {
  return (
    key === messageKey ||
    key === errorKey ||
    Object.values(requestKeys).includes(key) ||
    ENTRY_KEYS.has(key) ||
    DIALECT_KEYS.has(key) ||
    DIALECT_HOLDERS.has(key)
  )
}
