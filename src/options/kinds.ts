/** Types of option values: how each is read from code and parsed from a variable, and its rule. */
import type { JsonObject } from '../protocol/log-entry.js'

export interface Kind<T> {
  /** Completes "must be …". */
  readonly rule: string
  /** The value, or `undefined` if it breaks the rule. */
  read(value: unknown): T | undefined
  /** The part of the value that breaks the rule, and why, if the rule does not say it. */
  problem?(value: unknown): string | undefined
  /** Converts a variable's text for `read`. */
  parse(text: string): unknown
}

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

export const modulePath: Kind<string> = {
  ...text,
  rule: "the path of a module, as text: a function cannot cross into pino's worker",
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
  rule: 'level names with their numbers (in a variable: audit:35,notice:25)',
  read: (value) =>
    isPlainObject(value) && Object.entries(value).every(([name, number]) => name !== '' && Number.isFinite(number))
      ? ({ ...value } as Record<string, number>)
      : undefined,
  parse: (value) => (value.startsWith('{') ? parseJson(value) : parsePairs(value)),
}

function parsePairs(value: string): unknown {
  const pairs = value.split(',').map((pair) => /^\s*([^:\s]+)\s*:\s*(\d+(?:\.\d+)?)\s*$/.exec(pair))
  if (pairs.includes(null)) return value // breaks the rule, and is shown in the message
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], Number(pair?.[2])]))
}

/** An object of texts with these members only. */
export function textsNamed<K extends string>(...names: readonly K[]): Kind<Readonly<Partial<Record<K, string>>>> {
  return {
    rule: `an object of texts: ${names.join(', ')}`,
    read: (value) =>
      isPlainObject(value) &&
      Object.entries(value).every(
        ([name, one]) => (names as readonly string[]).includes(name) && (typeof one === 'string' || one === undefined),
      )
        ? (Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<
            Record<K, string>
          >)
        : undefined,
    parse: parseJson,
  }
}

const PEM_NAMES: readonly string[] = ['ca', 'cert', 'key']

/** An interface: a type would be inlined in the declarations, with a parameter of `Uint8Array` that TypeScript before 5.7 does not know. */
export interface Pems {
  readonly ca?: Pem
  readonly cert?: Pem
  readonly key?: Pem
}

type Pem = string | Uint8Array

/** PEM texts. `readFileSync` returns a Buffer, which becomes a Uint8Array when it is passed to a worker. */
export const pems: Kind<Pems> = {
  rule: 'an object with ca, cert, key: PEM text or a Buffer of it, cert and key together',
  read: (value) => {
    if (!isPlainObject(value)) return undefined
    const given = Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .map(([name, one]) => [name, one instanceof Uint8Array ? Buffer.from(one).toString() : one] as const)
    const areAllPems = given.every(
      ([name, one]) => PEM_NAMES.includes(name) && typeof one === 'string' && one.includes('-----BEGIN '),
    )
    const read = Object.fromEntries(given) as Partial<Record<'ca' | 'cert' | 'key', string>>
    return areAllPems && (read.cert === undefined) === (read.key === undefined) ? read : undefined
  },
  parse: (value) => value,
}

export const proxyUrl: Kind<string | false> = {
  rule: 'an http or https URL, or false',
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
