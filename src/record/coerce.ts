/** Converts logged values to the types of fields: levels, times, text, numbers. Pure. */
import { LEVELS } from '../protocol/log-entry.js'
import type { Json, JsonObject, Level } from '../protocol/log-entry.js'
import { isMarkedNumber, unmarkNumber } from '../shared/exact-json.js'

/** pino's level numbers and their labels, as in `logger.levels.labels`. */
export type LevelLabels = Readonly<Record<number, string>>

export const PINO_LEVELS: LevelLabels = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

type LevelNames = Readonly<Record<string, Level>>

/** @param byLevel names in lower case, separated by spaces */
function toNames(byLevel: Readonly<Partial<Record<Level, string>>>): LevelNames {
  const entries = Object.entries(byLevel) as [Level, string][]
  return Object.fromEntries(entries.flatMap(([level, names]) => names.split(' ').map((name) => [name, level])))
}

/** pino's level names and common spellings of them. They are not copied to the metadata. */
const STANDARD_NAMES = toNames({
  debug: 'trace debug',
  info: 'info',
  warn: 'warn warning',
  error: 'error',
  fatal: 'fatal critical',
})

/** The names above and those of syslog, which mean the same level whatever their number is; `dpanic` is zap's. */
const SEVERITY_NAMES: LevelNames = {
  ...STANDARD_NAMES,
  ...toNames({
    info: 'information informational notice',
    error: 'err',
    fatal: 'crit alert panic dpanic emerg emergency',
  }),
}

/** Level names of other loggers and platforms. As custom levels they are placed by their number. */
const OTHER_NAMES: LevelNames = { ...SEVERITY_NAMES, ...toNames({ debug: 'silly verbose', info: 'default http log' }) }

export interface ResolvedLevel {
  readonly level: Level
  /** Index of `level` in `LEVELS`; -1 for trace, which the service's interface does not have and which is sent as debug. */
  readonly severity: number
  /** The logged level if it is not a standard name: a custom label, or a number without a label. */
  readonly customLevel?: Json
}

/** OpenTelemetry's short names for severities between the standard ones (log data model, Displaying Severity). */
const NUMBERED_NAME = /^(trace|debug|info|warn|error|fatal)[2-4]$/
/** Escape sequences that winston's `colorize()` writes around the name. */
const COLORS = /\u001b\[[\d;]*m/g

/** Returns undefined if the value is not a level. */
export function resolveLevel(value: Json | undefined, labels: LevelLabels): ResolvedLevel | undefined {
  if (typeof value === 'number') return fromNumber(value, labels)
  if (typeof value !== 'string') return undefined
  const text = unmarkNumber(value).replace(COLORS, '').trim()
  if (text !== '' && Number.isFinite(Number(text))) return fromNumber(Number(text), labels)
  const name = text.toLowerCase()
  if (Object.hasOwn(STANDARD_NAMES, name)) return named(STANDARD_NAMES, name)
  for (const [number, label] of Object.entries(labels)) {
    if (label.toLowerCase() === name) return withLabel(fromLabel(Number(number), name, labels), text)
  }
  const numbered = NUMBERED_NAME.exec(name)?.[1]
  return withLabel(named(OTHER_NAMES, numbered ?? name), text)
}

function fromNumber(number: number, labels: LevelLabels): ResolvedLevel | undefined {
  const label = labels[number] ?? PINO_LEVELS[number]
  if (label === undefined) return withLabel(nearest(number), number)
  const name = label.toLowerCase()
  return named(STANDARD_NAMES, name) ?? withLabel(fromLabel(number, name, labels), label)
}

function withLabel(level: ResolvedLevel | undefined, customLevel: Json): ResolvedLevel | undefined {
  return level && { ...level, customLevel }
}

function named(names: LevelNames, name: string): ResolvedLevel | undefined {
  if (name === 'trace') return TRACE
  const level = Object.hasOwn(names, name) ? names[name] : undefined
  return level && toResolvedLevel(level)
}

/** The level of a custom level's name or of its place in the table, whichever is higher. @param name in lower case */
function fromLabel(number: number, name: string, labels: LevelLabels): ResolvedLevel | undefined {
  const own = named(SEVERITY_NAMES, name)
  const placed = fromPlace(number, labels)
  return own !== undefined && own.severity >= (placed?.severity ?? -1) ? own : placed
}

/**
 * The nearest level at or below, in the order of the names that are known: pino does not pass its `levelComparison`,
 * and with 'DESC' low numbers are severe. Without such an order, by pino's own numbers.
 */
function fromPlace(number: number, labels: LevelLabels): ResolvedLevel | undefined {
  for (const names of [STANDARD_NAMES, SEVERITY_NAMES]) {
    const known = Object.entries(labels).flatMap(([at, label]) => {
      const level = named(names, label.toLowerCase())
      return level === undefined ? [] : [{ at: Number(at), level }]
    })
    known.sort((one, other) => one.level.severity - other.level.severity)
    const [least, most] = [known[0], known.at(-1)]
    if (least === undefined || most === undefined || least.level.severity === most.level.severity) continue
    const order = Math.sign(most.at - least.at)
    const below = known.filter(({ at }) => at * order <= number * order)
    below.sort((one, other) => (one.at - other.at) * order)
    return below.at(-1)?.level ?? TRACE
  }
  return nearest(number)
}

/**
 * The nearest standard level at or below pino's number; undefined below all of them, where other loggers have numbers
 * of their own, such as syslog's 0 for the most severe level.
 */
function nearest(number: number): ResolvedLevel | undefined {
  return named(STANDARD_NAMES, PINO_LEVELS[Math.min(Math.floor(number / 10) * 10, 60)] ?? '')
}

export function toResolvedLevel(level: Level): ResolvedLevel {
  return { level, severity: LEVELS.indexOf(level) }
}

const TRACE: ResolvedLevel = { level: 'debug', severity: -1 }

const DIGITS = /^[+-]?\d+(?:\.\d+)?$/
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)?\s?(?:(Z)|([+-]\d\d)(?::?(\d\d))?)?)?$/i
/** The years 1 to 9999. Other years need a sign in ISO 8601, which few parsers support. */
const EARLIEST_MS = -62_135_596_800_000
const LATEST_MS = 253_402_300_799_999

/**
 * ISO 8601 UTC with milliseconds, from s, ms, us or ns since the epoch (distinguished by magnitude), from ISO 8601 text, or from
 * `{ seconds, nanos }` (protobuf's Timestamp, which Google Cloud's loggers write).
 */
export function toIsoTime(value: Json | undefined): string | undefined {
  let ms: number | undefined
  if (typeof value === 'number') ms = epochMs(value)
  else if (typeof value === 'string') {
    if (value.length === lastPrefix.length + 4 && value.startsWith(lastPrefix) && MS_UTC.test(value)) return value
    const text = unmarkNumber(value)
    if (DIGITS.test(text)) ms = epochMs(Number(text))
    else ms = msOfIso(text)
  } else if (isObject(value) && Object.keys(value).every((key) => key === 'seconds' || key === 'nanos'))
    ms = msOfTimestamp(value['seconds'], value['nanos'])
  if (ms === undefined || !(ms >= EARLIEST_MS && ms <= LATEST_MS)) return undefined
  const second = Math.floor(ms / 1e3)
  if (second !== lastSecond) {
    lastSecond = second
    lastPrefix = new Date(second * 1e3).toISOString().slice(0, -'000Z'.length)
  }
  return `${lastPrefix}${String(ms - second * 1e3).padStart(3, '0')}Z`
}

const MS_UTC = /\.\d{3}Z$/
/** Records of one second follow each other. */
let lastSecond = NaN
let lastPrefix = ''

/**
 * Rewrites common variants of ISO 8601 to the one form that ECMAScript defines; `Date.parse` reads other text
 * differently in each engine, and 30 February as a day of March. A time without a zone is local.
 */
function msOfIso(text: string): number | undefined {
  const [, date, time, seconds = ':00', fraction = '', utc, hours, minutes = '00'] = ISO.exec(text) ?? []
  if (date === undefined || new Date(date).toJSON()?.startsWith(date) !== true) return undefined
  if (time === undefined) return Date.parse(date)
  const zone = utc === undefined ? (hours === undefined ? '' : `${hours}:${minutes}`) : 'Z'
  return Date.parse(`${date}T${time}${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`)
}

/** Milliseconds, from seconds since the epoch and nanoseconds within the second; protobuf writes 64-bit integers as text. */
function msOfTimestamp(seconds: Json | undefined, nanos: Json | undefined): number | undefined {
  const whole = toInteger(seconds)
  const part = nanos === undefined ? 0 : toInteger(nanos)
  return whole === undefined || part === undefined || part < 0 || part >= 1e9
    ? undefined
    : whole * 1e3 + Math.floor(part / 1e6)
}

/** 1e11 s is the year 5138, 1e11 ms is 1973: current times are far from each limit. */
function epochMs(value: number): number {
  const size = Math.abs(value)
  if (size < 1e11) return Math.floor(value * 1e3 + 1e-3)
  if (size < 1e14) return Math.floor(value)
  if (size < 1e17) return Math.floor(value / 1e3)
  return Math.floor(value / 1e6)
}

/** Strings unchanged, numbers as their digits. */
export function toIdText(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return unmarkNumber(value)
  return typeof value === 'number' ? String(value) : undefined
}

/** As `toIdText`, but also accepts booleans. */
export function toScalarText(value: Json | undefined): string | undefined {
  return typeof value === 'boolean' ? String(value) : toIdText(value)
}

export function toPlainText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && !isMarkedNumber(value) ? value : undefined
}

export function toNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !DIGITS.test(value)) return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

export function toInteger(value: Json | undefined): number | undefined {
  const number = toNumber(value)
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function hasMembers(value: Json | undefined): value is JsonObject {
  if (!isObject(value)) return false
  for (const key in value) if (value[key] !== undefined) return true
  return false
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Undefined if no member has a value. JSON.stringify omits those without. */
export function ifAny<T extends object>(fields: T): Defined<T> | undefined {
  return hasMembers(fields as JsonObject) ? (fields as Defined<T>) : undefined
}

/**
 * Removes a member by setting it to undefined, which JSON.stringify omits: `delete` would make the object a slow
 * dictionary.
 */
export function remove(from: JsonObject, key: string): void {
  if (from[key] !== undefined) (from as Record<string, Json | undefined>)[key] = undefined
}

/** Returns the first result of `read` for the values of `keys`, and removes that key. */
export function take<T>(
  from: JsonObject,
  keys: readonly string[],
  read: (value: Json) => T | undefined,
): T | undefined {
  for (const key of keys) {
    const value = from[key]
    if (value === undefined) continue
    const result = read(value)
    if (result === undefined) continue
    ;(from as Record<string, Json | undefined>)[key] = undefined
    return result
  }
  return undefined
}
