/** Types of option values: how each is read from code and parsed from a variable, and its rule. */
import type { JsonObject, LogEntry } from '../protocol/log-entry.js'

export interface Kind<T> {
  /** Completes "must be …". */
  readonly rule: string
  /** The value, or `undefined` if it breaks the rule. */
  read(value: unknown): T | undefined
  /** The part of the value that breaks the rule, and why, if the rule does not say it. */
  problem?(value: unknown): string | undefined
  /** Converts a variable's text for `read`. */
  parse(text: string): unknown
  /** Of a group: they are read one by one, and `read` checks only that there are members. */
  readonly members?: Members
}

/** An option, or a member of one. */
export interface Row<T> {
  readonly kind: Kind<T>
  /** The first that is set wins. Default: `PINO_INGEST_` and the path in upper case. Those that end with `_FILE` are paths of files. */
  readonly variables?: readonly string[]
  /** The variable ends with `_FILE` and is the path of a file that contains the value. */
  readonly isFile?: true
  /** Used if neither code nor environment sets the option. */
  readonly default?: T
  /** Describes a default that is not a plain value. */
  readonly defaultText?: string
  /** For the documentation, and the comments of `IngestOptions`. */
  readonly meaning: string
  /** Part of its group's row in docs/options.md. */
  readonly isInGroupRow?: true
  /** Never shown in a message. */
  readonly secret?: true
}

export type Members = Readonly<Record<string, Row<unknown>>>

const FLAG_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

export const flag: Kind<boolean> = {
  rule: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  parse: (text) => FLAG_WORDS.get(text.toLowerCase()) ?? text,
}

export const text: Kind<string> = {
  rule: 'text that is not empty',
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
  parse: (value) => value,
}

export const path: Kind<string> = { ...text, rule: 'a path' }

/** Type of `beforeSend`: returns the entry to send (the given or a new one), or `null` to drop it. */
export type BeforeSend = (entry: LogEntry) => LogEntry | null

export const hook: Kind<string | BeforeSend> = {
  rule: 'the path of a module, or for ingestStream() a function',
  read: (value) => (typeof value === 'function' ? (value as BeforeSend) : text.read(value)),
  parse: (value) => value,
}

/** Valid in an HTTP header (RFC 9110, section 5.5). A stray newline is reported at startup. */
export const key: Kind<string> = {
  rule: 'printable ASCII characters without spaces',
  read: (value) => (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) ? value : undefined),
  parse: (value) => value.trim(),
}

export const keys: Kind<readonly string[]> = {
  rule: `a list of keys, each of ${key.rule} (in a variable: separated by commas)`,
  read: (value) =>
    Array.isArray(value) && value.every((one) => key.read(one) !== undefined) ? ([...value] as string[]) : undefined,
  parse: (value) =>
    value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
}

/** Inclusive. */
export function isWithin(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}

export function integer(min: number, max: number, unit = ''): Kind<number> {
  return {
    rule: `an integer from ${min} to ${max}${unit === '' ? '' : ` (${unit})`}`,
    read: (value) => (isWithin(value, min, max) ? value : undefined),
    parse: (value) => (/^\d+$/.test(value) ? Number(value) : value),
  }
}

export function oneOf<const T extends readonly (string | false)[]>(...values: T): Kind<T[number]> {
  return {
    rule: `one of ${values.join(', ')}`,
    read: (value) => values.find((one) => one === value),
    parse: (value) => (value === 'false' ? false : value),
  }
}

export const texts: Kind<readonly string[]> = {
  rule: 'a list of texts (in a variable: separated by commas, or JSON)',
  read: (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string') ? ([...value] as string[]) : undefined,
  parse: (value) =>
    value.trimStart().startsWith('[')
      ? parseJson(value)
      : value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
}

export const requestPaths = matchingTexts(
  'a list of paths that begin with / and have no query, such as /health or /internal/* (in a variable: separated by commas, or JSON)',
  /^\/[^?#*]*\*?$/,
)

/** Built-in names of `scrub.keys`; many are also those of headers and of URL parameters. */
export const SECRET_KEYS: readonly string[] =
  'password passwd secret token access_token refresh_token api_key apikey authorization cookie client_secret private_key'.split(
    ' ',
  )

const names = matchingTexts(
  "a list of names with only letters, digits, - and _ (in a variable: separated by commas, or JSON; [] for none); for paths use pino's redact",
  // A switch in a variable would be a name that nothing has.
  /^(?!(?:true|false|on|off|yes|no|none|null|default)$)[\w-]{1,64}$/i,
)

/** Adds the names to the built-in ones, so that a list for one's own data never exposes a password. */
export const secretKeys: Kind<readonly string[]> = {
  ...names,
  read: (value) => {
    const given = names.read(value)
    return given === undefined || given.length === 0 ? given : [...new Set([...SECRET_KEYS, ...given])]
  },
}

function matchingTexts(rule: string, form: RegExp): Kind<readonly string[]> {
  return {
    ...texts,
    rule,
    read: (value) => {
      const items = texts.read(value)
      return items?.every((item) => form.test(item)) === true ? items : undefined
    },
  }
}

export const object: Kind<JsonObject> = {
  rule: 'an object that JSON can hold (in a variable: JSON)',
  read: (value) => {
    if (!isPlainObject(value)) return undefined
    try {
      const copy = JSON.parse(JSON.stringify(value)) as unknown
      return isPlainObject(copy) ? (copy as JsonObject) : undefined // its toJSON may return another type
    } catch {
      return undefined // a cycle, or a BigInt
    }
  },
  parse: parseJson,
}

export const levels: Kind<Readonly<Record<string, number>>> = {
  rule: 'level names with their numbers',
  read: (value) =>
    isPlainObject(value) && Object.entries(value).every(([name, number]) => name !== '' && Number.isFinite(number))
      ? ({ ...value } as Record<string, number>)
      : undefined,
  parse: parseJson,
}

export const share: Kind<number> = {
  rule: 'a number from 0 to 1',
  read: (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined),
  parse: (value) => (/^\d*\.?\d+$/.test(value) ? Number(value) : value),
}

/** `readFileSync` returns a Buffer, which becomes a Uint8Array when it is passed to a worker. */
export const pem: Kind<string | Uint8Array> = {
  rule: 'PEM text, or a Buffer of it',
  read: (value) => {
    const read = value instanceof Uint8Array ? Buffer.from(value).toString() : value
    return typeof read === 'string' && read.includes('-----BEGIN ') ? read : undefined
  },
  parse: (value) => value,
}

export const proxyUrl: Kind<string | false> = {
  rule: 'an http or https URL such as http://proxy.example.com:3128, or false',
  read: (value) =>
    value === false || (typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value))
      ? value
      : undefined,
  parse: (value) => (value === 'false' ? false : value),
}

/** Not an instance of a class, such as Map or Date, whose content is not in its own properties. Works across realms. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || (Object.getPrototypeOf(prototype) === null && !Array.isArray(value))
}

/** Text that is not JSON is returned unchanged: it breaks the rule, and is shown in the message. */
export function parseJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
