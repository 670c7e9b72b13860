/** The type of `headers`: sent with every request, besides the transport's own. Names and values are checked at startup. */
import { describeHidden, formatName } from './format-value.js'
import { API_KEY_HEADER } from '../protocol/limits.js'
import { isPlainObject, parseJson } from './kinds.js'
import type { Kind } from './kinds.js'

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110, section 5.5: visible characters, spaces and tabs, in Latin-1. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const API_KEY = API_KEY_HEADER.toLowerCase()
/** What the transport sets itself, and what belongs to one connection (RFC 9110, section 7.6.1). */
const REFUSED =
  /^(?:host|content-.*|accept-encoding|expect|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings)$/

export const headers: Kind<Readonly<Record<string, string | undefined>>> = {
  rule: 'an object of names with their values (in a variable: JSON)',
  read: (value) =>
    isPlainObject(value) && findProblem(value) === undefined
      ? Object.fromEntries(givenIn(value).map(([name, text]) => [name.toLowerCase(), text as string]))
      : undefined,
  problem: (value) => (isPlainObject(value) ? findProblem(value) : undefined),
  parse: parseJson,
}

/** @returns what is wrong with a header: its name, never its value */
function findProblem(value: Record<string, unknown>): string | undefined {
  const seen = new Set<string>()
  for (const [name, text] of givenIn(value)) {
    // A whole line of a header, given as its name, contains the value.
    const shown = formatName(name.replace(/:.*$/s, ':…'))
    if (!TOKEN.test(name)) return `${shown} is not the name of a header`
    const key = name.toLowerCase()
    if (key === API_KEY) return `${shown} is set from apiKey; set that option or PINO_INGEST_API_KEY`
    if (REFUSED.test(key)) return `${shown} is reserved for the transport and cannot be overridden`
    if (seen.has(key)) return `${shown} is given twice, in different case`
    seen.add(key)
    if (typeof text !== 'string' || !FIELD_VALUE.test(text))
      return `the value of ${shown} must be text in Latin-1 without line breaks and control characters, got ${describeHidden(text)}`
  }
  return undefined
}

function givenIn(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).filter(([, one]) => one !== undefined)
}
