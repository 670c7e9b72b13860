/**
 * The first members of an entry: level, message and time. The text of levels and times is cached, because they repeat.
 */
import type { Json, Level } from '../../protocol/log-entry.js'
import { PLAIN_INTEGER } from './request-scanner.js'
import { resolveLevel, toIsoTime } from '../coerce.js'
import type { LevelLabels } from '../coerce.js'
import type { MemberCursor } from '../member-cursor.js'
import { FIRST_COPIED_KEY } from './record-keys.js'
import type { RecordKeys } from './record-keys.js'
import { copyString } from '../string-copy.js'

/** Bounds the cache if logged data has many distinct levels. */
const MAX_LEVELS = 256
/** Longer levels and times are declined. */
const MAX_VALUE_CHARS = 64
const SCALAR = /^["\d-]/
const EPOCH_MS = /^\d{13}$/
/** Milliseconds since the epoch until the year 2286. */
const TIME_CHARS = 13
const TIME_OPENING_CHARS = ',"time":'.length
const LEVEL_AND_TIME = String.raw`[^,\n]*,"time":\d{13}`
const BASE = String.raw`(?:,"pid":[1-9]\d{0,14},"hostname":"[^"\\\n]*")?`

export interface LevelText {
  readonly level: Level
  /** As in `MappedRecord`. */
  readonly severity: number
  /** The entry up to the message's value. */
  readonly opening: string
  /** Member for the metadata, or ''. */
  readonly metadata: string
}

export class LevelTextCache {
  readonly #labels: LevelLabels
  readonly #known = new Map<string, LevelText>()

  constructor(labels: LevelLabels) {
    this.#labels = labels
  }

  /** As `get`, for text that may not be JSON; undefined if the value is not in the cache. */
  find(text: string): LevelText | undefined {
    return this.#known.get(text)
  }

  /** `value` is valid JSON. */
  get(value: string): LevelText | undefined {
    return this.#known.get(value) ?? this.#resolve(value)
  }

  #resolve(value: string): LevelText | undefined {
    if (value.length > MAX_VALUE_CHARS || !SCALAR.test(value)) return undefined
    const resolved = resolveLevel(JSON.parse(value) as Json, this.#labels)
    if (resolved === undefined) return undefined
    const level = {
      level: resolved.level,
      severity: resolved.severity,
      opening: `{"level":"${resolved.level}","message":`,
      metadata: resolved.customLevel === undefined ? '' : `"level":${JSON.stringify(resolved.customLevel)}`,
    }
    if (this.#known.size === MAX_LEVELS) this.#known.clear()
    this.#known.set(copyString(value), level)
    return level
  }
}

export class TimestampTextCache {
  #value = ''
  #text = ''
  #second = ''
  #secondText = ''

  /** `,"timestamp":"…"` for a time in valid JSON, or '' if it is not a time. */
  get(value: string): string {
    if (value === this.#value) return this.#text
    const text = EPOCH_MS.test(value) ? this.#ofEpochMs(value) : timestampMember(value)
    if (text !== '') {
      this.#value = value
      this.#text = text
    }
    return text
  }

  /** As `get`, for the 13 digits at `at`; '' if the last time was in another second. */
  ofSameSecond(text: string, at: number): string {
    if (text.slice(at, at + 10) !== this.#second) return ''
    return `${this.#secondText}${text.slice(at + 10, at + TIME_CHARS)}Z"`
  }

  /** Within one second only the last three digits change. */
  #ofEpochMs(value: string): string {
    const second = value.slice(0, 10)
    if (second !== this.#second) {
      this.#secondText = timestampMember(value).slice(0, -5)
      this.#second = second
    }
    return `${this.#secondText}${value.slice(10)}Z"`
  }
}

function timestampMember(value: string): string {
  if (value.length > MAX_VALUE_CHARS || !SCALAR.test(value)) return ''
  // Passes a number as its digits, because a double cannot represent nanoseconds.
  const iso = toIsoTime(value.startsWith('"') ? (JSON.parse(value) as string) : value)
  return iso === undefined ? '' : `,"timestamp":"${iso}"`
}

/**
 * The start of a pino line, which all lines of a process share except for level and milliseconds:
 * `{"level":30,"time":1795400000000, "pid":42,"hostname":"web-1"`. One expression reads it in 0.06 us; `startsWith`
 * takes 5 ns per character.
 */
export class RecordHead {
  level: LevelText | undefined
  timestamp = ''
  /** Position after the text that was read. */
  end = 0
  /** Start of `"pid"`; `end` if it was not read. */
  baseStart = 0
  readonly #pattern: RegExp
  /** Characters before the level's value. */
  readonly #openingChars: number
  readonly #levels: LevelTextCache
  readonly #times: TimestampTextCache
  readonly #keys: RecordKeys
  readonly #pidKind: number
  readonly #hostnameKind: number

  constructor(levelKey: string, levels: LevelTextCache, times: TimestampTextCache, keys: RecordKeys) {
    const opening = `{${JSON.stringify(levelKey)}:`
    this.#openingChars = opening.length
    this.#levels = levels
    this.#times = times
    this.#keys = keys
    this.#pidKind = keys.kindOf('pid')
    this.#hostnameKind = keys.kindOf('hostname')
    const isBaseCopied = this.#pidKind >= FIRST_COPIED_KEY && this.#hostnameKind >= FIRST_COPIED_KEY
    this.#pattern = new RegExp(`${escapeExpression(opening)}${LEVEL_AND_TIME}${isBaseCopied ? BASE : ''}`, 'y')
  }

  /**
   * Reads level, time, pid and hostname. Returns false if the line starts differently, or if its level or second is
   * new.
   */
  read(text: string, start: number): boolean {
    const pattern = this.#pattern
    pattern.lastIndex = start
    if (!pattern.test(text)) return false
    const levelAt = start + this.#openingChars
    const levelEnd = text.indexOf(',', levelAt)
    const timeAt = levelEnd + TIME_OPENING_CHARS
    this.timestamp = this.#times.ofSameSecond(text, timeAt)
    if (this.timestamp === '') return false
    this.level = this.#levels.find(text.slice(levelAt, levelEnd))
    if (this.level === undefined) return false
    this.baseStart = timeAt + TIME_CHARS
    this.end = pattern.lastIndex
    if (this.baseStart === this.end) return true
    this.baseStart += 1
    this.#keys.add('pid', this.#pidKind)
    this.#keys.add('hostname', this.#hostnameKind)
    return true
  }
}

/** Source of an expression for exactly this text. */
function escapeExpression(text: string): string {
  return text.replace(/\W/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Quoted text; '' if the message is null, a container, or a number that differs from its text. */
export function toMessageText(member: MemberCursor): string {
  const value = member.value()
  if (member.isText()) return value
  return value === 'true' || value === 'false' || PLAIN_INTEGER.test(value) ? `"${value}"` : ''
}
