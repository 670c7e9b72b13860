/** Writes the entry from the members read from a line. */
import { createFingerprint } from '../reference/error-fingerprint.js'
import { joinMembers } from '../member-cursor.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { NOTE_KEY } from '../shorten-entry.js'
import type { LevelText } from './entry-head.js'
import { FINGERPRINT_SLOT, RELEASE_SLOT, SOURCE_SLOT, formatIdentity, formatSlots } from './fast-fields.js'
import type { KeyTable, StaticText } from './fast-fields.js'
import { unquote } from './field-slots.js'
import type { RecordMembers } from './record-members.js'

export class EntryComposer {
  readonly #options: MappingOptions
  readonly #static: StaticText
  readonly #table: KeyTable

  constructor(options: MappingOptions, staticText: StaticText, table: KeyTable) {
    this.#options = options
    this.#static = staticText
    this.#table = table
  }

  /**
   * Returns the entry without its closing brace; undefined if the line is declined. Changes the metadata, the slots and
   * the identity of `members`.
   */
  compose(members: RecordMembers, level: LevelText): string | undefined {
    if (level.metadata !== '') members.metadata = joinMembers(members.metadata, level.metadata)
    if (members.name !== '' && !this.#placeName(members)) return undefined
    let parts = ''
    if (members.hasRequest) {
      if (members.request.request === '') return undefined
      const duration = members.duration === '' ? '' : `,"duration_ms":${members.duration}`
      parts = `,"request":{${members.request.request}${duration}}`
      members.addObject(this.#table.req, members.request.reqRest)
      members.addObject(this.#table.res, members.request.resRest)
    } else if (members.duration !== '') parts = `,"perf":{"duration_ms":${members.duration}}`
    if (members.user !== '') parts += `,"user":${members.user}`
    if (members.hasError) {
      this.#placeSource(members)
      parts += `,"error":${members.error.json}`
      members.addObject('error', members.error.rest)
      if (members.error.omitted > 0) members.addObject(NOTE_KEY, `"omitted_http_members":${members.error.omitted}`)
    }
    if (this.#static.releaseId !== '' && members.slots.texts[RELEASE_SLOT] === '')
      members.slots.set(RELEASE_SLOT, this.#static.releaseId)
    if (this.#static.metadata !== '') members.metadata = joinMembers(members.metadata, this.#static.metadata)
    return (
      level.opening +
      members.message +
      members.timestamp +
      (members.hasIdentity ? formatIdentity(members.identity, this.#options) : this.#static.identity) +
      parts +
      (members.slots.isEmpty && !members.hasReq ? '' : formatSlots(members.slots.texts, members.request.trace)) +
      this.#static.deploy +
      (members.tags === '' ? this.#static.tags : `,"tags":${members.tags}`) +
      (members.metadata === '' ? '' : `,"metadata":{${members.metadata}}`)
    )
  }

  /** pino's `name` becomes the service if neither the record nor the options have one. */
  #placeName(members: RecordMembers): boolean {
    if (members.identity.service === '' && this.#options.service === undefined) {
      members.identity.service = members.name
      members.hasIdentity = true
      return true
    }
    members.metadata = joinMembers(members.metadata, `"name":${members.name}`)
    return !this.#static.metadataKeys.has('name')
  }

  #placeSource(members: RecordMembers): void {
    const needsFingerprint = this.#options.fingerprint === 'auto' && members.slots.texts[FINGERPRINT_SLOT] === ''
    const needsSource = members.slots.texts[SOURCE_SLOT] === ''
    if (!needsSource && !needsFingerprint) return
    const source = members.error.findSource()
    if (needsSource && source !== '') members.slots.set(SOURCE_SLOT, `"${source}"`)
    if (needsFingerprint) {
      const { type, message } = members.error
      const fingerprint = createFingerprint(unquote(type), unquote(message), unquote(`"${source}"`))
      members.slots.set(FINGERPRINT_SLOT, `"${fingerprint}"`)
    }
  }
}
