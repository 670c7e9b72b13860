/** Writes the entry from the members read from a line. */
import { createFingerprint } from '../reference/error-fingerprint.js'
import { joinMembers, joinObject } from '../member-cursor.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { NOTE_KEY } from '../shorten-entry.js'
import type { LevelText } from './entry-head.js'
import { FINGERPRINT_SLOT, RELEASE_SLOT, SLOT_FIELDS, SOURCE_SLOT, formatIdentity, formatSlots } from './fast-fields.js'
import type { KeyTable, StaticText } from './fast-fields.js'
import { unquote } from './field-slots.js'
import type { RecordMembers } from './record-members.js'

export class EntryComposer {
  readonly #options: MappingOptions
  readonly #static: StaticText
  readonly #table: KeyTable
  /** By slot: the text for records without the field. That of an error's fields is replaced at each line. */
  readonly #added = SLOT_FIELDS.map(() => '')

  constructor(options: MappingOptions, staticText: StaticText, table: KeyTable) {
    this.#options = options
    this.#static = staticText
    this.#table = table
    this.#added[RELEASE_SLOT] = staticText.releaseId
  }

  /** Returns the entry without its closing brace; undefined if the line is declined. */
  compose(members: RecordMembers, level: LevelText): string | undefined {
    const { identity, name, request, slots } = members
    // pino's `name` becomes the service if neither the record nor the options have one.
    const usesNameAsService = name !== '' && identity.service === '' && this.#options.service === undefined
    const keptName = usesNameAsService ? '' : name
    if (keptName !== '' && this.#static.metadataKeys.has('name')) return undefined
    if (members.hasRequest && request.request === '') return undefined
    this.#addErrorFields(members)
    const metadata = this.#joinMetadata(members, level.metadata, keptName)
    return (
      level.opening +
      members.message +
      members.timestamp +
      (usesNameAsService || members.hasIdentity
        ? formatIdentity(identity, this.#options, usesNameAsService ? name : identity.service)
        : this.#static.identity) +
      formatParts(members) +
      (slots.isEmpty && !members.hasReq && !this.#hasAdded
        ? ''
        : formatSlots(slots.texts, this.#added, request.trace)) +
      this.#static.deploy +
      (members.tags === '' ? this.#static.tags : `,"tags":${members.tags}`) +
      (metadata === '' ? '' : `,"metadata":{${metadata}}`)
    )
  }

  get #hasAdded(): boolean {
    return this.#static.releaseId !== '' || this.#added[SOURCE_SLOT] !== '' || this.#added[FINGERPRINT_SLOT] !== ''
  }

  #addErrorFields({ hasError, error, slots: { texts } }: RecordMembers): void {
    const needsFingerprint = hasError && this.#options.fingerprint === 'auto' && texts[FINGERPRINT_SLOT] === ''
    const source = needsFingerprint || (hasError && texts[SOURCE_SLOT] === '') ? error.findSource() : ''
    this.#added[SOURCE_SLOT] = source === '' ? '' : `"${source}"`
    this.#added[FINGERPRINT_SLOT] = needsFingerprint
      ? `"${createFingerprint(unquote(error.type), unquote(error.message), unquote(`"${source}"`))}"`
      : ''
  }

  #joinMetadata(
    { metadata, error, hasError, hasRequest, request }: RecordMembers,
    level: string,
    name: string,
  ): string {
    let joined = level === '' ? metadata : joinMembers(metadata, level)
    if (name !== '') joined = joinMembers(joined, `"name":${name}`)
    if (hasRequest)
      joined = joinObject(joinObject(joined, this.#table.req, request.reqRest), this.#table.res, request.resRest)
    if (hasError) {
      joined = joinObject(joined, 'error', error.rest)
      if (error.omitted > 0) joined = joinObject(joined, NOTE_KEY, `"omitted_http_members":${error.omitted}`)
    }
    return this.#static.metadata === '' ? joined : joinMembers(joined, this.#static.metadata)
  }
}

/** The objects of the entry except its trace, deploy and metadata. */
function formatParts({ duration, error, hasError, hasRequest, request, user }: RecordMembers): string {
  let parts = ''
  if (hasRequest) parts = `,"request":{${request.request}${duration === '' ? '' : `,"duration_ms":${duration}`}}`
  else if (duration !== '') parts = `,"perf":{"duration_ms":${duration}}`
  if (user !== '') parts += `,"user":${user}`
  return hasError ? `${parts},"error":${error.json}` : parts
}
