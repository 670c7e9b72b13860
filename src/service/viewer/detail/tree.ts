/** Prepares logged values for the tree: kinds, members, paths, previews (pure). */
import type { Json } from '../../../protocol/log-entry.js'

export type ValueKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

export type Path = readonly (string | number)[]

export interface Member {
  readonly key: string | number
  readonly value: Json
}

export function findKind(value: Json): ValueKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as ValueKind
}

export function isContainer(value: Json): value is Json[] | { [key: string]: Json } {
  return typeof value === 'object' && value !== null
}

export function countItems(value: Json): number {
  if (!isContainer(value)) return 0
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

export function listMembers(value: Json, count: number): readonly Member[] {
  if (!isContainer(value)) return []
  if (Array.isArray(value)) return value.slice(0, count).map((one, key) => ({ key, value: one }))
  return Object.keys(value)
    .slice(0, count)
    .map((key) => ({ key, value: value[key] ?? null }))
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

export function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    if (!IDENTIFIER.test(key)) return `${text}[${JSON.stringify(key)}]`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

const PREVIEW_MEMBERS = 5
const PREVIEW_CHARS = 80

/** Formats a folded container as one short line: `{ id, name, roles, … }`, `[1, 2, …]`. */
export function formatPreview(value: Json): string {
  if (!isContainer(value)) return scalarPreview(value)
  const size = countItems(value)
  if (size === 0) return Array.isArray(value) ? '[]' : '{}'
  const shown = listMembers(value, PREVIEW_MEMBERS).map(({ key, value: one }) =>
    typeof key === 'number' ? scalarPreview(one) : truncate(key, 30),
  )
  const more = size > PREVIEW_MEMBERS ? ', …' : ''
  const text = truncate(shown.join(', '), PREVIEW_CHARS) + more
  return Array.isArray(value) ? `[${text}]` : `{ ${text} }`
}

function scalarPreview(value: Json): string {
  if (isContainer(value)) return Array.isArray(value) ? '[…]' : '{…}'
  return typeof value === 'string' ? JSON.stringify(truncate(value, 30)) : String(value)
}

export function truncate(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${cutAt(text, maxChars)}…`
}

/** Cuts a text. Never splits a surrogate pair, half of which would be shown as a replacement character. */
export function cutAt(text: string, end: number): string {
  return text.slice(0, /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end - 1 : end)
}

/** Returns at most `maxChars` and `maxLines`. A slightly longer text stays whole, because folding would hide only a line. */
export function foldText(text: string, maxChars: number, maxLines: number): string {
  const cut = text.length > maxChars * 1.2 ? cutAt(text, maxChars) : text
  const lines = cut.split('\n', maxLines + SPARE_LINES)
  return lines.length < maxLines + SPARE_LINES ? cut : lines.slice(0, maxLines).join('\n')
}

const SPARE_LINES = 3

/** Formats a value for the clipboard: text without quotation marks, other values as JSON. */
export function toCopy(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
