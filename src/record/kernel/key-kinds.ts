/** How the kernel treats each key of a record. */
import { CATEGORY_KEYS, NOT_DATA } from '../breadcrumb-keys.js'
import { DIALECT_HOLDERS, DIALECT_KEYS } from '../reference/dialects.js'
import { OTHER_REQUEST_IDS, TEXT_FIELDS } from '../reference/entry-fields.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { TRACE_FIELDS } from '../reference/entry-trace.js'
import { ENTRY_KEYS, REFERENCE_KEYS } from '../reference/mapped-keys.js'
import { Kind } from '../memory.js'
import { NOTE_KEY } from '../shorten-entry.js'

/** Names of a breadcrumb's data that are derived from the error or request. A line with such a member is parsed. */
const DERIVED_KEYS: readonly string[] = ['method', 'url', 'status_code', 'error_type', 'error_message']

/** Fields whose value is a string or a plain integer. The trace's come last. */
const SLOT_FIELDS = [...TEXT_FIELDS, ...TRACE_FIELDS]
const REQUEST_ID_SLOT = SLOT_FIELDS.findIndex(([field]) => field === 'request_id')
const REQUEST_IDS: readonly string[] = [...OTHER_REQUEST_IDS, ...(SLOT_FIELDS[REQUEST_ID_SLOT]?.[1] ?? [])]

/** Whether the kernel can map lines with these names. */
export function areNamesSupported({ requestKeys, messageKey, errorKey, nestedKey }: MappingOptions): boolean {
  const { responseTime, reqId } = requestKeys
  const names = [...Object.values(requestKeys), messageKey, errorKey]
  return (
    nestedKey === undefined &&
    !ENTRY_KEYS.has(messageKey) &&
    (errorKey === 'err' || errorKey === 'error' || !ENTRY_KEYS.has(errorKey)) &&
    (responseTime === 'responseTime' || !ENTRY_KEYS.has(responseTime)) &&
    (REQUEST_IDS.includes(reqId) || !ENTRY_KEYS.has(reqId)) &&
    new Set(names).size === names.length
  )
}

function all(keys: Iterable<string>, kind: number): [string, number][] {
  return Array.from(keys, (key) => [key, kind])
}

/** By name; keys without an entry are copied. Later names win. */
export function createKinds(options: MappingOptions): Map<string, number> {
  const { messageKey, errorKey, metadata, requestKeys } = options
  const { req, res, responseTime, reqId } = requestKeys
  const declined = [...REFERENCE_KEYS, ...DIALECT_KEYS, NOTE_KEY, 'req', 'res']
  return new Map([
    ...all(DIALECT_HOLDERS, Kind.HOLDER),
    ...all(declined, Kind.DECLINED),
    ['name', Kind.NAME],
    ['service', Kind.SERVICE],
    ...all(['environment', 'env'], Kind.ENVIRONMENT),
    ['version', Kind.VERSION],
    ...all(['duration_ms', 'responseTime', responseTime], Kind.DURATION),
    ['user', Kind.USER],
    ['tags', Kind.TAGS],
    ...SLOT_FIELDS.flatMap(([, keys], slot) => all(keys, Kind.SLOT + slot)),
    ...all(OTHER_REQUEST_IDS, Kind.OTHER_ID),
    [reqId, Kind.SLOT + REQUEST_ID_SLOT],
    ['time', Kind.TIME],
    ['level', Kind.LEVEL],
    [messageKey, Kind.MESSAGE],
    [res, res === 'res' ? Kind.RES : Kind.DECLINED],
    [req, req === 'req' ? Kind.REQ : Kind.DECLINED],
    ...all(['err', 'error', errorKey], Kind.ERROR),
    ...all(Object.keys(metadata), Kind.DECLINED),
  ])
}

export function createBreadcrumbKinds(options: MappingOptions): Map<string, number> {
  return new Map([
    ...all(CATEGORY_KEYS, Kind.CATEGORY),
    ...all(NOT_DATA, Kind.LEFT_OUT),
    ...all(DERIVED_KEYS, Kind.DECLINED),
    ...[...createKinds({ ...options, metadata: {} })].filter(([, kind]) => kind !== Kind.HOLDER && kind !== Kind.NAME),
  ])
}
