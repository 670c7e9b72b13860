/** The fast path's part of the field table: the keys that it maps and the keys that it declines. */
import type { MappingOptions } from '../reference/entry-fields.js'
import { OTHER_REQUEST_IDS, TEXT_FIELDS } from '../reference/entry-fields.js'
import { DIALECT_KEYS } from '../reference/dialects.js'
import { ENTRY_KEYS, REFERENCE_KEYS } from '../reference/mapped-keys.js'
import { TRACE_FIELDS } from '../reference/entry-trace.js'
import { joinMembers } from '../member-cursor.js'

/** pino's key. */
export const LEVEL = 'level'
const FIELDS = [...TEXT_FIELDS, ...TRACE_FIELDS]
const FIRST_TRACE_SLOT = TEXT_FIELDS.length

/** Fields whose value is a string or a plain integer, by slot. The trace's fields come last. */
export const SLOT_FIELDS: readonly string[] = FIELDS.map(([field]) => field)
/** Slot of the `OTHER_REQUEST_IDS`. */
export const OTHER_REQUEST_ID = -1
const SLOT_OF_KEY: ReadonlyMap<string, number> = new Map([
  ...FIELDS.flatMap(([, keys], slot) => keys.map((key) => [key, slot] as const)),
  ...OTHER_REQUEST_IDS.map((key) => [key, OTHER_REQUEST_ID] as const),
])

export const REQUEST_ID_SLOT = SLOT_FIELDS.indexOf('request_id')
export const SOURCE_SLOT = SLOT_FIELDS.indexOf('source')
export const SESSION_SLOT = SLOT_FIELDS.indexOf('session_id')
export const FINGERPRINT_SLOT = SLOT_FIELDS.indexOf('fingerprint')
export const RELEASE_SLOT = SLOT_FIELDS.indexOf('release_id')
export const TRACE_SLOT = SLOT_FIELDS.indexOf('trace_id')

/** Keys that only the reference path maps, whatever the type of the value. */
export const DECLINED_KEYS: ReadonlySet<string> = new Set([...REFERENCE_KEYS, ...DIALECT_KEYS])

/** The keys of a record by their treatment in this path. */
export interface KeyTable {
  readonly req: string
  readonly res: string
  readonly responseTime: string
  readonly slotOf: ReadonlyMap<string, number>
  /** Whether this path can map lines with these names. */
  readonly isSupported: boolean
}

export function createKeyTable({ requestKeys, messageKey, errorKey, nestedKey }: MappingOptions): KeyTable {
  const { req, res, responseTime, reqId } = requestKeys
  const names = [req, res, responseTime, reqId]
  const others = names.filter((name) => !['req', 'res', 'responseTime', 'reqId'].includes(name))
  const isOtherField = (name: string): boolean => ENTRY_KEYS.has(name) && !(name === reqId && isRequestId(name))
  return {
    req,
    res,
    responseTime,
    slotOf: new Map([...SLOT_OF_KEY, [reqId, REQUEST_ID_SLOT]]),
    isSupported:
      nestedKey === undefined &&
      !ENTRY_KEYS.has(messageKey) &&
      (errorKey === 'err' || errorKey === 'error' || !ENTRY_KEYS.has(errorKey)) &&
      new Set([...names, messageKey, errorKey]).size === names.length + 2 &&
      !others.some(isOtherField),
  }
}

function isRequestId(key: string): boolean {
  const slot = SLOT_OF_KEY.get(key)
  return slot === REQUEST_ID_SLOT || slot === OTHER_REQUEST_ID
}

/** JSON members of the entry. @param added used for empty slots @param headerTrace used if no slot has a trace id */
export function formatSlots(slots: readonly string[], added: readonly string[], headerTrace: string): string {
  let json = ''
  for (let slot = 0; slot < FIRST_TRACE_SLOT; slot += 1) {
    const text = slots[slot] || added[slot]
    if (text) json += `,"${SLOT_FIELDS[slot]}":${text}`
  }
  let trace = ''
  for (let slot = FIRST_TRACE_SLOT; slot < SLOT_FIELDS.length; slot += 1) {
    if (slots[slot] !== '') trace = joinMembers(trace, `"${SLOT_FIELDS[slot]}":${slots[slot] as string}`)
  }
  if (trace !== '') return `${json},"trace":{${trace}}`
  return headerTrace === '' ? json : `${json},"trace":${headerTrace}`
}

/** Quoted texts from the record; '' if it has none. */
export interface Identity {
  service: string
  environment: string
  version: string
}

/** Members for service, environment and version: the record's values win over the options'. */
export function formatIdentity(identity: Identity, options: MappingOptions, service = identity.service): string {
  const member = (field: keyof Identity, own: string, fallback: string | undefined): string => {
    if (own !== '') return `,"${field}":${own}`
    return fallback === undefined ? '' : `,"${field}":${JSON.stringify(fallback)}`
  }
  return (
    member('service', service, options.service ?? options.fallbackService) +
    member('environment', identity.environment, options.environment) +
    member('version', identity.version, options.version)
  )
}

/** Text that the options add to every entry. */
export interface StaticText {
  readonly identity: string
  /** Quoted, or ''. */
  readonly releaseId: string
  /** Members of the entry. */
  readonly deploy: string
  readonly tags: string
  /** Members of its metadata. */
  readonly metadata: string
  readonly metadataKeys: ReadonlySet<string>
  readonly chars: number
}

export function createStaticText(options: MappingOptions): StaticText {
  const identity = formatIdentity({ service: '', environment: '', version: '' }, options)
  const releaseId = options.releaseId === undefined ? '' : JSON.stringify(options.releaseId)
  const deploy = options.deploy === undefined ? '' : `,"deploy":${JSON.stringify(options.deploy)}`
  const tags = options.tags.length === 0 ? '' : `,"tags":${JSON.stringify(options.tags)}`
  const metadata = JSON.stringify(options.metadata).slice(1, -1)
  const chars = identity.length + releaseId.length + deploy.length + tags.length + metadata.length
  return { identity, releaseId, deploy, tags, metadata, metadataKeys: new Set(Object.keys(options.metadata)), chars }
}
