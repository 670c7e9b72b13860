/** The kernel's part of the field table, and texts that the options add to every entry. */
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
  const { service = options.fallbackService, environment, version } = options
  const identity = Object.entries({ service, environment, version })
    .map(([field, value]) => (value === undefined ? '' : `,"${field}":${JSON.stringify(value)}`))
    .join('')
  const releaseId = options.releaseId === undefined ? '' : JSON.stringify(options.releaseId)
  const deploy = options.deploy === undefined ? '' : `,"deploy":${JSON.stringify(options.deploy)}`
  const tags = options.tags.length === 0 ? '' : `,"tags":${JSON.stringify(options.tags)}`
  const metadata = JSON.stringify(options.metadata).slice(1, -1)
  const chars = identity.length + releaseId.length + deploy.length + tags.length + metadata.length
  return { identity, releaseId, deploy, tags, metadata, metadataKeys: new Set(Object.keys(options.metadata)), chars }
}
