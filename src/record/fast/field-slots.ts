/** Fields whose value is a string or a plain integer, by slot; see `SLOT_FIELDS`. */
import { REQUEST_ID_SLOT, SLOT_FIELDS, TRACE_SLOT } from './fast-fields.js'
import { PLAIN_INTEGER } from './request-scanner.js'
import type { MemberCursor } from '../member-cursor.js'

/** AWS X-Ray's form of a trace id, which the reference path converts. */
const MAY_BE_XRAY = /^"(?:1-|.*Root=)/

export class FieldSlots {
  /** Quoted text; '' if the slot is empty. */
  readonly texts: string[] = SLOT_FIELDS.map(() => '')
  #isEmpty = true

  get isEmpty(): boolean {
    return this.#isEmpty
  }

  reset(): void {
    if (this.#isEmpty) return
    this.texts.fill('')
    this.#isEmpty = true
  }

  /** False if the value is declined. */
  fill(slot: number, member: MemberCursor): boolean {
    const text = toIdJson(member)
    // Fastify's `reqId` may repeat the scope's `request_id`.
    if (this.texts[slot] !== '') return this.texts[slot] === text
    if (text === '' || (slot === REQUEST_ID_SLOT && text === '""')) return false
    if (slot === TRACE_SLOT && MAY_BE_XRAY.test(text)) return false
    this.set(slot, text)
    return true
  }

  /** @param text quoted */
  set(slot: number, text: string): void {
    this.texts[slot] = text
    if (text !== '') this.#isEmpty = false
  }

  /** Whether the record has any trace id, so the header's ids are not used. */
  get hasTrace(): boolean {
    for (let slot = TRACE_SLOT; slot < this.texts.length; slot += 1) if (this.texts[slot] !== '') return true
    return false
  }

  /** Decoded; '' if the slot is empty. */
  decode(slot: number): string {
    return unquote(this.texts[slot] as string)
  }
}

/** Quoted text; '' if the value is neither a string nor a plain integer. */
export function toIdJson(member: MemberCursor): string {
  const value = member.value()
  return member.isText() ? value : PLAIN_INTEGER.test(value) ? `"${value}"` : ''
}

/** @param text valid JSON text, or '' */
export function unquote(text: string): string {
  if (text === '') return ''
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
}
