/** Checks the arguments of exported functions. An invalid argument throws `IngestError` with code `CONFIG`. */
import { MAX_TIMER_MS } from './clock.js'
import { IngestError } from './errors.js'

/**
 * Copies an options argument, so its getters are called only once, here.
 *
 * @param owner the function, such as `flush()`
 * @throws IngestError `CONFIG` if it is not an object, or a getter throws
 */
export function readOptions<Options extends object>(owner: string, options: Options | undefined): Partial<Options> {
  const members = options === undefined ? {} : copyMembers(options)
  if (typeof members === 'object') return members as Partial<Options>
  throw new IngestError('CONFIG', `the options of ${owner} ${members}`)
}

/** @returns a copy of an object's own members, or the predicate of an error message (`must be an object, got …`) */
export function copyMembers(value: unknown): Record<string, unknown> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `must be an object, got ${describeType(value)}`
  try {
    return { ...value }
  } catch (error) {
    return `cannot be read: ${describeThrown(error)}`
  }
}

/**
 * @throws IngestError `CONFIG` with the argument's name, the rule and the type of the value. The value itself may be a
 * secret
 */
export function checkArgument(name: string, rule: string, isValid: boolean, value: unknown): void {
  if (!isValid) throw new IngestError('CONFIG', `${name} must be ${rule}, got ${describeType(value)}`)
}

export function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Milliseconds for a timer, clamped to 0 and the maximum of a Node timer.
 *
 * @throws IngestError `CONFIG` if it is not a number
 */
export function readTimeoutMs(name: string, value: unknown): number {
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new IngestError('CONFIG', `${name} must be a number of milliseconds, got ${describeValue(value)}`)
  return Math.min(Math.max(value, 0), MAX_TIMER_MS)
}

/** Describes a value that may be a secret by its type only. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  try {
    if (Array.isArray(value)) return 'a list'
    const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name
    return typeof name === 'string' && name !== '' && name !== 'Object' ? `an instance of ${cut(name)}` : 'an object'
  } catch {
    return 'an object' // a proxy
  }
}

/** Describes numbers and strings by value, other values by type. Not for secrets. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value))
  return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : describeType(value)
}

const MAX_SHOWN_CHARS = 80

/** At most 80 characters, for a message. */
export function cut(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`
}

/** Never throws, even if the conversion of the thrown value to a string does. */
export function describeThrown(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return `a ${typeof thrown} that cannot be converted to a string`
  }
}
