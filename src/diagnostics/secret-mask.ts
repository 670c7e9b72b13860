/** Masks secrets in all text that leaves the process, except request headers. */

export const MASK = '***'

/**
 * Shorter secrets would match ordinary words. The service issues no such key, but a local service may be configured
 * with one.
 */
const MIN_SECRET_CHARS = 6
/** Shorter secrets are masked only where they appear complete. */
const MIN_DIVISIBLE_CHARS = 12
/** Parts of this length are masked, because a message may be cut in the middle of a secret. */
const PART_CHARS = 8
/** Minimum length of parts that consist of letters only and may be words. */
const WORD_PART_CHARS = 12

/**
 * @returns a function that masks each secret: verbatim, JSON-escaped, percent-encoded, in base64 (also within longer
 * base64), and parts of secrets of 12 or more characters (parts of 8 characters, or 12 if all are letters). It ignores
 * the case of ASCII letters and runs in linear time.
 */
export function createSecretMask(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS).flatMap(createForms)
  const [whole, divisible] = [
    forms.filter((form) => form.length < MIN_DIVISIBLE_CHARS),
    forms.filter((form) => form.length >= MIN_DIVISIBLE_CHARS),
  ]
  const exactPattern =
    whole.length === 0
      ? undefined
      : new RegExp(whole.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)).join('|'), 'gi')
  const parts = new Set(divisible.map(withoutCase).flatMap(splitIntoParts))
  return (text) => maskParts(exactPattern === undefined ? text : text.replace(exactPattern, MASK), parts)
}

/** Masks all text within a plain JSON value. @returns a copy */
export function maskDeep<T>(value: T, mask: (text: string) => string): T {
  if (typeof value === 'string') return mask(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, mask)])) as T
}

function createForms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  return [
    secret,
    escaped,
    escaped.replaceAll('/', String.raw`\/`),
    encodeURIComponent(secret.toWellFormed()),
    ...toBase64Forms(secret),
  ]
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

/** Lower-cases ASCII letters only: `toLowerCase()` may change the length. */
function withoutCase(text: string): string {
  return text.replace(/[A-Z]+/g, (run) => run.toLowerCase())
}

/** Masks runs in which every 8 consecutive characters occur in a secret. */
function maskParts(text: string, parts: ReadonlySet<string>): string {
  if (parts.size === 0) return text
  const folded = withoutCase(text)
  const isPart = (at: number): boolean => parts.has(folded.slice(at, at + PART_CHARS))
  let masked = ''
  let copied = 0
  for (let at = 0; at + PART_CHARS <= text.length; at += 1) {
    if (!isPart(at)) continue
    const start = at
    while (at + PART_CHARS < text.length && isPart(at + 1)) at += 1
    const end = at + PART_CHARS
    if (end - start < WORD_PART_CHARS && /^[a-z]+$/.test(folded.slice(start, end))) continue
    masked += text.slice(copied, start) + MASK
    copied = end
    at = end - 1
  }
  return copied === 0 ? text : masked + text.slice(copied)
}
