/** How the kernel treats each key of a record. */
import { CATEGORY_KEYS, NOT_DATA } from '../breadcrumb-keys.js'
import { DIALECT_HOLDERS, DIALECT_KEYS } from '../reference/dialects.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { REFERENCE_KEYS } from '../reference/mapped-keys.js'
import { NOTE_KEY } from '../shorten-entry.js'
import { LEVEL, OTHER_REQUEST_ID, findSlots } from './key-table.js'

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
/** Base value; the field's slot is added. */
const FIRST_SLOT_KEY = 16
const CATEGORY_KEY = 40
const LEFT_OUT_KEY = 41
/** Names of a breadcrumb's data that are derived from the error or request. A line with such a member is parsed. */
const DERIVED_KEYS: readonly string[] = ['method', 'url', 'status_code', 'error_type', 'error_message']

function all(keys: Iterable<string>, kind: number): [string, number][] {
  return Array.from(keys, (key) => [key, kind])
}

/** By name; keys without an entry are copied. Later names win. */
export function createKinds(options: MappingOptions): Map<string, number> {
  const { messageKey, errorKey, levelKey = LEVEL, metadata, requestKeys } = options
  const { req, res, responseTime } = requestKeys
  const declined = [...Object.keys(metadata), ...REFERENCE_KEYS, ...DIALECT_KEYS, NOTE_KEY, LEVEL, 'req', 'res']
  return new Map([
    ...all(DIALECT_HOLDERS, HOLDER_KEY),
    ...all(declined, DECLINED),
    ['name', NAME_KEY],
    ['service', SERVICE_KEY],
    ...all(['environment', 'env'], ENVIRONMENT_KEY),
    ['version', VERSION_KEY],
    ...all(['duration_ms', 'responseTime', responseTime], DURATION_KEY),
    ['user', Object.hasOwn(metadata, 'user') ? DECLINED : USER_KEY],
    ['tags', TAGS_KEY],
    ...Array.from(findSlots(options), ([key, slot]): [string, number] => [
      key,
      slot === OTHER_REQUEST_ID ? OTHER_ID_KEY : FIRST_SLOT_KEY + slot,
    ]),
    ['time', TIME_KEY],
    [levelKey, LEVEL_KEY],
    [messageKey, MESSAGE_KEY],
    [res, RES_KEY],
    [req, REQ_KEY],
    ...all(['err', 'error', errorKey], ERROR_KEY),
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
