/** Takes secrets out of text that leaves the process by another way than a request's header. */

export const MASK = '***'

/** A reason cut to length may end within a key, and even a part of one is nobody's business. */
const PARTIAL_CHARS = 8
/** Of a shorter secret only the whole is masked: a part would be an everyday word. */
const PARTIAL_FROM_CHARS = 12

/** Nobody's key is shorter; what is given for one to a local service may be a syllable of any message. */
const LEAST_CHARS = 6

/** @returns a function that masks each secret: plain, in JSON, URL-encoded, in base64, and long parts of their beginning */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret.length >= LEAST_CHARS).flatMap(formsOf))]
  // Whole forms first: two of them may begin alike, and a part masked as one's beginning would leave the other's end.
  return (text) => forms.reduce(maskPart, forms.reduce((rest, form) => rest.replaceAll(form, MASK), text))
}

/** The same for all text within a plain JSON value, which is not changed but copied. */
export function maskDeep<T>(value: T, mask: (text: string) => string): T {
  if (typeof value === 'string') return mask(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => maskDeep(item, mask)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, mask)])) as T
}

function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64')
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ]
}

function maskPart(text: string, form: string): string {
  if (form.length < PARTIAL_FROM_CHARS) return text
  const head = form.slice(0, PARTIAL_CHARS)
  let masked = ''
  let from = 0
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, from)) {
    let end = at + PARTIAL_CHARS
    while (end - at < form.length && text[end] === form[end - at]) end += 1
    masked += text.slice(from, at) + MASK
    from = end
  }
  return from === 0 ? text : masked + text.slice(from)
}
