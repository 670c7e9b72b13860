/** The first members of an entry: level, message and time. The text of levels and times is cached, since they repeat. */
import type { Json, Level } from '../../protocol/log-entry.js'
import { PLAIN_INTEGER } from './request-scanner.js'
import { resolveLevel, toIsoTime } from '../coerce.js'
import type { LevelLabels } from '../coerce.js'
import type { MemberCursor } from '../member-cursor.js'
import { FIRST_COPIED_KEY } from './record-keys.js'
import type { RecordKeys } from './record-keys.js'
import { findNumberEnd, findStringEnd } from '../../shared/json-scan.js'
import { copyString } from '../string-copy.js'

/** Bounds the memory if logged data has many distinct levels. */
const MAX_LEVELS = 256
/** Longer levels and times are declined. */
const MAX_VALUE_CHARS = 64
const SCALAR = /^["\d-]/
const EPOCH_MS = /^\d{13}$/
/** Milliseconds since the epoch until the year 2286. */
const TIME_CHARS = 13
/** RFC 1035, section 2.3.4. */
const MAX_HOSTNAME_CHARS = 255
const TIME_OPENING = ',"time":'
const PID_OPENING = ',"pid":'
const HOSTNAME_OPENING = ',"hostname":"'

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

  /** As `get`, for text that may be no JSON; undefined if the value is not in the cache. */
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

  /** As `get`, for the 13 digits at `at` if they are of the same second as the last time; '' for any other text. */
  ofSameSecond(text: string, at: number): string {
    if (this.#second === '' || !text.startsWith(this.#second, at)) return ''
    for (let i = at + 10; i < at + TIME_CHARS; i += 1) {
      const code = text.charCodeAt(i)
      if (code < 48 || code > 57) return ''
    }
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
  // A number is passed as its digits: a double cannot hold nanoseconds.
  const iso = toIsoTime(value.startsWith('"') ? (JSON.parse(value) as string) : value)
  return iso === undefined ? '' : `,"timestamp":"${iso}"`
}

/**
 * The beginning of a line of pino, which all lines of a process share but for level and milliseconds: `{"level":30,"time":1795400000000,
 * "pid":42,"hostname":"web-1"`. It is compared with that of an earlier line and not scanned.
 */
export class RecordHead {
  level: LevelText | undefined
  timestamp = ''
  /** Position after what was read. */
  end = 0
  /** Where `"pid"` begins; `end` if it was not read. */
  baseStart = 0
  readonly #opening: string
  readonly #levels: LevelTextCache
  readonly #times: TimestampTextCache
  readonly #keys: RecordKeys
  readonly #pidKind: number
  readonly #hostnameKind: number
  #base = ''
  #canLearn = true

  constructor(levelKey: string, levels: LevelTextCache, times: TimestampTextCache, keys: RecordKeys) {
    this.#opening = `{${JSON.stringify(levelKey)}:`
    this.#levels = levels
    this.#times = times
    this.#keys = keys
    this.#pidKind = keys.kindOf('pid')
    this.#hostnameKind = keys.kindOf('hostname')
  }

  /** Must be called before the lines of another text. */
  beginText(): void {
    this.#canLearn = this.#pidKind >= FIRST_COPIED_KEY && this.#hostnameKind >= FIRST_COPIED_KEY
  }

  /** Reads level, time, pid and hostname; false if the line begins in another way, or its level or second is new. */
  read(text: string, start: number): boolean {
    if (!text.startsWith(this.#opening, start)) return false
    const levelAt = start + this.#opening.length
    const levelEnd = text.indexOf(',', levelAt)
    if (!text.startsWith(TIME_OPENING, levelEnd)) return false
    const timeAt = levelEnd + TIME_OPENING.length
    this.timestamp = this.#times.ofSameSecond(text, timeAt)
    if (this.timestamp === '') return false
    this.level = this.#levels.find(text.slice(levelAt, levelEnd))
    if (this.level === undefined) return false
    const at = timeAt + TIME_CHARS
    this.end = this.baseStart = at
    if (this.#base === '' || !text.startsWith(this.#base, at)) {
      if (!this.#canLearn) return true
      this.#canLearn = false
      this.#base = findBase(text, at)
      if (this.#base === '') return true
    }
    this.#keys.add('pid', this.#pidKind)
    this.#keys.add('hostname', this.#hostnameKind)
    this.baseStart = at + 1
    this.end = at + this.#base.length
    return true
  }
}

/** `,"pid":42,"hostname":"web-1"` at this position; '' if it is not there. */
function findBase(text: string, at: number): string {
  if (!text.startsWith(PID_OPENING, at)) return ''
  const pidEnd = findNumberEnd(text, at + PID_OPENING.length)
  if (pidEnd === -1 || !text.startsWith(HOSTNAME_OPENING, pidEnd)) return ''
  const hostnameAt = pidEnd + HOSTNAME_OPENING.length - 1
  const end = findStringEnd(text, hostnameAt, Math.min(text.length, hostnameAt + MAX_HOSTNAME_CHARS))
  return end === -1 ? '' : copyString(text.slice(at, end + 1))
}

/** Quoted text; '' if the message is null, a container, or a number that differs from its text. */
export function toMessageText(member: MemberCursor): string {
  const value = member.value()
  if (member.isText()) return value
  return value === 'true' || value === 'false' || PLAIN_INTEGER.test(value) ? `"${value}"` : ''
}
