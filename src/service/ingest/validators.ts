/**
 * Validators for JSON values. Each returns the problems of a value, with locations relative to the value. Messages and types of schema
 * problems are those of the framework whose 422 body the interface shows (interface: Errors).
 */
import { isObject } from '../../shared/argument-checks.js'

/** A violation of the interface that `validateEntry()` found. */
export interface EntryViolation {
  /** `schema`: a field is missing, unknown or of the wrong JSON type. `value`: the type is right, the value not permitted. */
  readonly kind: 'schema' | 'value'
  /** Path of the field, relative to the validated value. */
  readonly loc: readonly (string | number)[]
  /** For example `value_error.missing`. */
  readonly type: string
  /** What is wrong. */
  readonly message: string
}

export type Validator = (value: unknown) => readonly EntryViolation[]

export const NO_PROBLEMS: readonly EntryViolation[] = Object.freeze([])

/** Maximum number of problems in a reply: a value can have a million unknown fields. */
const MAX_PROBLEMS = 20
/** Longer field names are truncated in a reply. */
const MAX_NAME_LENGTH = 100
/** The interface specifies no limit, but recursive JSON writers fail at greater depths. */
const MAX_DEPTH = 100

export function createSchemaProblem(type: string, message: string): readonly EntryViolation[] {
  return [{ kind: 'schema', loc: [], type, message }]
}

function createValueProblem(message: string): readonly EntryViolation[] {
  return [{ kind: 'value', loc: [], type: 'value_error', message }]
}

/** Makes locations relative to the parent, which has the value under `key`. */
export function prefixLocations(key: string | number, problems: readonly EntryViolation[]): EntryViolation[] {
  const name = typeof key === 'string' ? key.slice(0, MAX_NAME_LENGTH) : key
  return problems.map((problem) => ({ ...problem, loc: [name, ...problem.loc] }))
}

const NOT_A_STRING = createSchemaProblem('type_error.str', 'str type expected')
const NOT_AN_INTEGER = createSchemaProblem('type_error.integer', 'value is not a valid integer')
const NOT_A_NUMBER = createSchemaProblem('type_error.float', 'value is not a valid float')
const NOT_A_BOOLEAN = createSchemaProblem('type_error.bool', 'value is not a valid boolean')
const NOT_A_LIST = createSchemaProblem('type_error.list', 'value is not a valid list')
const NOT_AN_OBJECT = createSchemaProblem('type_error.dict', 'value is not a valid dict')
const MISSING = createSchemaProblem('value_error.missing', 'field required')
const UNKNOWN = createSchemaProblem('value_error.extra', 'extra fields not permitted')
const HAS_NUL = createValueProblem('text contains a NUL character, which many databases cannot store')
const ILL_FORMED = createValueProblem('text contains a lone surrogate, which UTF-8 cannot encode')
const NOT_FINITE = createValueProblem('number is not finite')
const TOO_DEEP = createValueProblem(`nested deeper than ${MAX_DEPTH} levels`)

export const text: Validator = (value) => {
  if (typeof value !== 'string') return NOT_A_STRING
  if (!value.isWellFormed()) return ILL_FORMED
  return value.includes('\0') ? HAS_NUL : NO_PROBLEMS
}

/** Rejects Infinity, which `JSON.parse('1e999')` returns. */
export const number: Validator = (value) => {
  if (typeof value !== 'number') return NOT_A_NUMBER
  return Number.isFinite(value) ? NO_PROBLEMS : NOT_FINITE
}

export const integer: Validator = (value) => {
  if (typeof value !== 'number') return NOT_AN_INTEGER
  if (!Number.isFinite(value)) return NOT_FINITE
  return Number.isInteger(value) ? NO_PROBLEMS : NOT_AN_INTEGER
}

export const boolean: Validator = (value) => (typeof value === 'boolean' ? NO_PROBLEMS : NOT_A_BOOLEAN)

export function oneOf(allowed: readonly string[]): Validator {
  const known = new Set(allowed)
  const wrong = createValueProblem(`must be one of: ${allowed.join(', ')}`)
  return (value) => {
    if (typeof value !== 'string') return NOT_A_STRING
    return known.has(value) ? NO_PROBLEMS : wrong
  }
}

const DATE_TIME = /^\d{4}-\d\d-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const NOT_ISO = createValueProblem('must be an ISO 8601 date and time with an offset, as 2026-01-31T08:00:00.000Z')
const NOT_UTC = createValueProblem('must be an ISO 8601 date and time in UTC, as 2026-01-31T08:00:00.000Z')

function isoTime(value: unknown, wrong: readonly EntryViolation[], utcOnly: boolean): readonly EntryViolation[] {
  if (typeof value !== 'string') return NOT_A_STRING
  const [, day, offset = ''] = DATE_TIME.exec(value) ?? []
  if (day === undefined || (utcOnly && offset !== 'Z' && offset !== '+00:00')) return wrong
  // Date.parse accepts February 31 as a day in March; the day of the month then differs.
  const local = Date.parse(`${value.slice(0, -offset.length)}Z`)
  return new Date(local).getUTCDate() === Number(day) && !Number.isNaN(Date.parse(value)) ? NO_PROBLEMS : wrong
}

/** An ISO 8601 date and time with `Z` or any offset. */
export const time: Validator = (value) => isoTime(value, NOT_ISO, false)

/** An ISO 8601 date and time in UTC: `Z` or `+00:00`. */
export const utcTime: Validator = (value) => isoTime(value, NOT_UTC, true)

export function list(validate: Validator, maxItems = Infinity): Validator {
  return (value) => {
    if (!Array.isArray(value)) return NOT_A_LIST
    if (value.length > maxItems) {
      return createSchemaProblem('value_error.list.max_items', `ensure this value has at most ${maxItems} items`)
    }
    let problems: EntryViolation[] | undefined
    for (let index = 0; index < value.length; index++) {
      const found = validate(value[index])
      if (found.length === 0) continue
      problems = [...(problems ?? []), ...prefixLocations(index, found)]
      if (problems.length >= MAX_PROBLEMS) break
    }
    return problems ?? NO_PROBLEMS
  }
}

/** An object with no other fields than these. Fields are optional unless listed in `required`. */
export function object<K extends string>(fields: Record<K, Validator>, required: readonly K[] = []): Validator {
  const validators = new Map<string, Validator>(Object.entries<Validator>(fields))
  return (value) => {
    if (!isObject(value)) return NOT_AN_OBJECT
    let problems: EntryViolation[] | undefined
    for (const name of required) {
      if (!Object.hasOwn(value, name)) problems = [...(problems ?? []), ...prefixLocations(name, MISSING)]
    }
    for (const name of Object.keys(value)) {
      const validator = validators.get(name)
      const found = validator === undefined ? UNKNOWN : validator(value[name])
      if (found.length === 0) continue
      problems = [...(problems ?? []), ...prefixLocations(name, found)]
      if (problems.length >= MAX_PROBLEMS) break
    }
    return problems ?? NO_PROBLEMS
  }
}

/** An object with any keys and any JSON values. */
export const freeForm: Validator = (value) => (isObject(value) ? anyJson(value, 0) : NOT_AN_OBJECT)

function anyJson(value: unknown, depth: number): readonly EntryViolation[] {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number') return number(value)
  if (typeof value !== 'object' || value === null) return NO_PROBLEMS
  if (depth >= MAX_DEPTH) return TOO_DEEP
  const isList = Array.isArray(value)
  for (const [key, child] of Object.entries(value)) {
    const found = isList || text(key) === NO_PROBLEMS ? anyJson(child, depth + 1) : text(key)
    if (found.length > 0) return prefixLocations(isList ? Number(key) : key.toWellFormed(), found)
  }
  return NO_PROBLEMS
}
