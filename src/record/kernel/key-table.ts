/** The kernel's part of the field table. */
import type { MappingOptions } from '../reference/entry-fields.js'
import { OTHER_REQUEST_IDS, TEXT_FIELDS } from '../reference/entry-fields.js'
import { ENTRY_KEYS } from '../reference/mapped-keys.js'
import { TRACE_FIELDS } from '../reference/entry-trace.js'

/** pino's key. */
export const LEVEL = 'level'
const FIELDS = [...TEXT_FIELDS, ...TRACE_FIELDS]

/** Fields whose value is a string or a plain integer, by slot. The trace's fields come last. */
const SLOT_FIELDS: readonly string[] = FIELDS.map(([field]) => field)
/** Slot of the `OTHER_REQUEST_IDS`. */
export const OTHER_REQUEST_ID = -1
const SLOT_OF_KEY: ReadonlyMap<string, number> = new Map([
  ...FIELDS.flatMap(([, keys], slot) => keys.map((key) => [key, slot] as const)),
  ...OTHER_REQUEST_IDS.map((key) => [key, OTHER_REQUEST_ID] as const),
])

const REQUEST_ID_SLOT = SLOT_FIELDS.indexOf('request_id')

export function findSlots({ requestKeys: { reqId } }: MappingOptions): ReadonlyMap<string, number> {
  return new Map([...SLOT_OF_KEY, [reqId, REQUEST_ID_SLOT]])
}

/** Whether the kernel can map lines with these names. */
export function areNamesSupported({ requestKeys, messageKey, errorKey, nestedKey }: MappingOptions): boolean {
  const { req, res, responseTime, reqId } = requestKeys
  const names = [req, res, responseTime, reqId]
  const others = names.filter((name) => !['req', 'res', 'responseTime', 'reqId'].includes(name))
  const isOtherField = (name: string): boolean => ENTRY_KEYS.has(name) && !(name === reqId && isRequestId(name))
  return (
    nestedKey === undefined &&
    !ENTRY_KEYS.has(messageKey) &&
    (errorKey === 'err' || errorKey === 'error' || !ENTRY_KEYS.has(errorKey)) &&
    new Set([...names, messageKey, errorKey]).size === names.length + 2 &&
    !others.some(isOtherField)
  )
}

function isRequestId(key: string): boolean {
  const slot = SLOT_OF_KEY.get(key)
  return slot === REQUEST_ID_SLOT || slot === OTHER_REQUEST_ID
}
