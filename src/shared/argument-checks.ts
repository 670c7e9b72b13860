/** Checks the arguments of exported functions. A wrong one is a mistake in the program: `IngestError` with code `CONFIG`. */
import { MAX_TIMER_MS } from './clock.js'
import { IngestError } from './errors.js'

/**
 * A copy of an options argument, so that its getters are called once, and here.
 *
 * @param owner the function, such as `flush()`
 * @throws IngestError `CONFIG` if it is not an object, or a getter throws
 */
export function readOptions<Options extends object>(owner: string, options: Options | undefined): Partial<Options> {
  const members = options === undefined ? {} : copyMembers(options)
  if (typeof members === 'object') return members as Partial<Options>
  throw new IngestError('CONFIG', `the options of ${owner} ${members}`)
}

/** @returns a copy of an object's own members, or the end of a sentence about what is wrong with the value */
export function copyMembers(value: unknown): Record<string, unknown> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `must be an object, got ${describeType(value)}`
  try {
    return { ...value }
  } catch (error) {
    return `cannot be read: ${describeThrown(error)}`
  }
}

/** @throws IngestError `CONFIG` with the argument's name, the rule and the type of the value, which may be a secret */
export function checkArgument(name: string, rule: string, isValid: boolean, value: unknown): void {
  if (!isValid) throw new IngestError('CONFIG', `${name} must be ${rule}, got ${describeType(value)}`)
}

export function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Milliseconds for a timer: at least 0, and no more than a timer can wait.
 *
 * @throws IngestError `CONFIG` if it is not a number
 */
export function readTimeoutMs(name: string, value: unknown): number {
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new IngestError('CONFIG', `${name} must be a number of milliseconds, got ${describeValue(value)}`)
  return Math.min(Math.max(value, 0), MAX_TIMER_MS)
}

/** The type of a value whose content may be a secret. */
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

/** A number or text itself, of other values the type. Not for secrets. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value))
  return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : describeType(value)
}

const MAX_SHOWN_CHARS = 80

function cut(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`
}

/** Any value may be thrown, also an object whose conversion to text throws. */
export function describeThrown(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return `a ${typeof thrown} that is no text`
  }
}
