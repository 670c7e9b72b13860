/** How the kernel treats each key of a record. */
import { CATEGORY_KEYS, NOT_DATA } from '../breadcrumb-keys.js'
import { DIALECT_HOLDERS, DIALECT_KEYS } from '../reference/dialects.js'
import { OTHER_REQUEST_IDS, TEXT_FIELDS } from '../reference/entry-fields.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { TRACE_FIELDS } from '../reference/entry-trace.js'
import { ENTRY_KEYS, REFERENCE_KEYS } from '../reference/mapped-keys.js'
import { NOTE_KEY } from '../shorten-entry.js'

/** Numbers of `assembly/record.ts`. */
const DECLINED = 0
const MESSAGE_KEY = 1
const LEVEL_KEY = 2
const TIME_KEY = 3
const ERROR_KEY = 4
const REQ_KEY = 5
const RES_KEY = 6
const DURATION_KEY = 7
const NAME_KEY = 8
const SERVICE_KEY = 9
const ENVIRONMENT_KEY = 10
const VERSION_KEY = 11
const OTHER_ID_KEY = 12
/** Copied unchanged, unless the value is a container. */
const HOLDER_KEY = 13
const USER_KEY = 14
const TAGS_KEY = 15
/** Base value of `SLOT_FIELDS`; the field's slot is added. */
const FIRST_SLOT_KEY = 16
const CATEGORY_KEY = 40
const LEFT_OUT_KEY = 41
/** Names of a breadcrumb's data that are derived from the error or request. A line with such a member is parsed. */
const DERIVED_KEYS: readonly string[] = ['method', 'url', 'status_code', 'error_type', 'error_message']

/** pino's key. */
export const LEVEL = 'level'
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
  const { messageKey, errorKey, levelKey = LEVEL, metadata, requestKeys } = options
  const { req, res, responseTime, reqId } = requestKeys
  const declined = [...REFERENCE_KEYS, ...DIALECT_KEYS, NOTE_KEY, LEVEL, 'req', 'res']
  return new Map([
    ...all(DIALECT_HOLDERS, HOLDER_KEY),
    ...all(declined, DECLINED),
    ['name', NAME_KEY],
    ['service', SERVICE_KEY],
    ...all(['environment', 'env'], ENVIRONMENT_KEY),
    ['version', VERSION_KEY],
    ...all(['duration_ms', 'responseTime', responseTime], DURATION_KEY),
    ['user', USER_KEY],
    ['tags', TAGS_KEY],
    ...SLOT_FIELDS.flatMap(([, keys], slot) => all(keys, FIRST_SLOT_KEY + slot)),
    ...all(OTHER_REQUEST_IDS, OTHER_ID_KEY),
    [reqId, FIRST_SLOT_KEY + REQUEST_ID_SLOT],
    ['time', TIME_KEY],
    [levelKey, LEVEL_KEY],
    [messageKey, MESSAGE_KEY],
    [res, res === 'res' ? RES_KEY : DECLINED],
    [req, req === 'req' ? REQ_KEY : DECLINED],
    ...all(['err', 'error', errorKey], ERROR_KEY),
    ...all(Object.keys(metadata), DECLINED),
  ])
}

export function createBreadcrumbKinds(options: MappingOptions): Map<string, number> {
  return new Map([
    ...all(CATEGORY_KEYS, CATEGORY_KEY),
    ...all(NOT_DATA, LEFT_OUT_KEY),
    ...all(DERIVED_KEYS, DECLINED),
    ...[...createKinds({ ...options, metadata: {} })].filter(([, kind]) => kind !== HOLDER_KEY && kind !== NAME_KEY),
  ])
}
