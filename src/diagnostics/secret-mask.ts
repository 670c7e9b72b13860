/** Masks secrets in all text that leaves the process, except request headers. */

import { CONTROL_CHARACTERS } from '../shared/control-characters.js'

const MASK = '***'

/**
 * Shorter secrets are parts of ordinary words, so they are masked only as whole words. The service issues no such key,
 * but a local service may be configured with one.
 */
const MIN_SECRET_CHARS = 6
/** Shorter secrets are masked only where they appear complete. */
const MIN_DIVISIBLE_CHARS = 12
/** Parts of this length are masked, because a message may be cut in the middle of a secret. */
const PART_CHARS = 8
const NO_WORD_BEFORE = String.raw`(?<![\w\x80-\uffff])`
const NO_WORD_AFTER = String.raw`(?![\w\x80-\uffff])`
/** Minimum length of parts that consist of letters only and may be words. */
const WORD_PART_CHARS = 12

/**
 * @param secrets may grow: those that are added later are also masked
 * @returns a function that masks each secret: verbatim, in hex, in base64 (also within longer base64), each also in the
 * encodings of `decode`, secrets of fewer than 6 characters as whole words, and parts of secrets of 12 or more characters (parts of 8 characters, or 12 if all are
 * letters). It ignores the case of ASCII letters and runs in linear time.
 */
export function createSecretMask(secrets: readonly string[]): (text: string) => string {
  let count = secrets.length
  let mask = compileMask(secrets)
  return (text) => {
    if (secrets.length > count) mask = compileMask(secrets)
    count = secrets.length
    return mask(text)
  }
}

function compileMask(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .flatMap(createForms)
    .map((form) => decode(form).text)
    .filter((form) => form.length >= MIN_SECRET_CHARS)
  const words = secrets
    .map((secret) => decode(secret).text)
    .filter((secret) => secret !== '' && secret.length < MIN_SECRET_CHARS)
  const [whole, divisible] = [
    forms.filter((form) => form.length < MIN_DIVISIBLE_CHARS),
    forms.filter((form) => form.length >= MIN_DIVISIBLE_CHARS),
  ]
  const exact = [
    ...whole.map(escapePattern),
    ...words.map((word) => `${NO_WORD_BEFORE}${escapePattern(word)}${NO_WORD_AFTER}`),
  ]
  const exactPattern = new RegExp(exact.join('|'), 'g')
  const parts = new Set(divisible.flatMap(splitIntoParts))
  return (text) => {
    const masked = exact.length === 0 ? text : maskFound(text, (decoded) => findMatches(decoded, exactPattern))
    return parts.size === 0 ? masked : maskFound(masked, (decoded) => findParts(decoded, parts))
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
}

/** Masks all text within a plain JSON value. @returns a copy */
export function maskDeep<T>(value: T, mask: (text: string) => string): T {
  if (typeof value === 'string') return mask(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, mask)])) as T
}

function createForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  // Decoding takes percent-encoded bytes as characters.
  return [secret, encodeURIComponent(secret.toWellFormed()), bytes.toString('hex'), ...toBase64Forms(secret)]
}

/** Base64 of the secret at each of the three byte offsets, without the characters that also encode adjacent bytes. */
function toBase64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    return [bytes.toString('base64').slice(from, to), bytes.toString('base64url').slice(from, to)]
  })
}

function splitIntoParts(form: string): string[] {
  return Array.from({ length: form.length - PART_CHARS + 1 }, (_, at) => form.slice(at, at + PART_CHARS))
}

const HEX = '[0-9A-Fa-f]'
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** An encoded character, or one that is ignored: a control character, or a backslash, which escapes the next one. */
const ENCODED = new RegExp(
  [
    String.raw`%(?:25)*(${HEX}{2})`,
    String.raw`\\+(?:u(${HEX}{4})|x(${HEX}{2}))?`,
    String.raw`&#[xX]0*(${HEX}{1,4});?`,
    String.raw`&#0*(\d{1,5});?`,
    `&(${Object.keys(ENTITIES).join('|')});`,
    CONTROL_CHARACTERS.source,
  ].join('|'),
  'gu',
)

/** The characters of a text, and the range of each in the original text. */
interface Decoded {
  readonly text: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/**
 * Decodes characters that are percent-encoded (once or repeatedly), escaped as in JSON or JavaScript, or HTML entities,
 * in any mixture. Lower-cases ASCII letters only: `toLowerCase()` may change the length.
 */
function decode(original: string): Decoded {
  const starts: number[] = []
  const ends: number[] = []
  let text = ''
  let copied = 0
  const copyTo = (end: number): void => {
    text += original.slice(copied, end)
    for (; copied < end; copied += 1) {
      starts.push(copied)
      ends.push(copied + 1)
    }
  }
  for (const { index, 0: found, 1: percent, 2: unicode, 3: byte, 4: hex, 5: decimal, 6: name } of original.matchAll(
    ENCODED,
  )) {
    copyTo(index)
    const digits = percent ?? unicode ?? byte ?? hex
    const code = digits === undefined ? Number(decimal ?? 0) : Number.parseInt(digits, 16)
    const char = name === undefined ? String.fromCharCode(code) : (ENTITIES[name] as string)
    const end = index + found.length
    if (char !== '\\' && char.replace(CONTROL_CHARACTERS, '') !== '') {
      text += char
      starts.push(copied)
      ends.push(end)
    }
    copied = end
  }
  copyTo(original.length)
  return { text: text.replace(/[A-Z]+/g, (run) => run.toLowerCase()), starts, ends }
}

type Range = readonly [from: number, to: number]

function maskFound(original: string, find: (decoded: string) => readonly Range[]): string {
  const { text, starts, ends } = decode(original)
  let masked = ''
  let copied = 0
  for (const [from, to] of find(text)) {
    masked += original.slice(copied, starts[from]) + MASK
    copied = ends[to - 1] as number
  }
  return masked + original.slice(copied)
}

function findMatches(text: string, pattern: RegExp): Range[] {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => [index, index + found.length])
}

/** Finds runs in which every 8 consecutive characters occur in a secret. */
function findParts(text: string, parts: ReadonlySet<string>): Range[] {
  const isPart = (at: number): boolean => parts.has(text.slice(at, at + PART_CHARS))
  const found: Range[] = []
  for (let at = 0; at + PART_CHARS <= text.length; at += 1) {
    if (!isPart(at)) continue
    const start = at
    while (at + PART_CHARS < text.length && isPart(at + 1)) at += 1
    const end = at + PART_CHARS
    if (end - start < WORD_PART_CHARS && /^[a-z]+$/.test(text.slice(start, end))) continue
    found.push([start, end])
    at = end - 1
  }
  return found
}
