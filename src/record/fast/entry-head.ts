/** The first members of an entry: level, message and time. The text of levels and times is cached, since they repeat. */
import type { Json, Level } from '../../protocol/log-entry.js'
import { PLAIN_INTEGER } from './request-scanner.js'
import { resolveLevel, toIsoTime } from '../coerce.js'
import type { LevelLabels } from '../coerce.js'
import type { MemberCursor } from '../member-cursor.js'

/** Bounds the memory if logged data has many distinct levels. */
const MAX_LEVELS = 256
/** Longer levels and times are declined. */
const MAX_VALUE_CHARS = 64
const SCALAR = /^["\d-]/
const EPOCH_MS = /^\d{13}$/

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
    this.#known.set(value, level)
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

/** Quoted text; '' if the message is null, a container, or a number that differs from its text. */
export function toMessageText(member: MemberCursor): string {
  const value = member.value()
  if (member.isText()) return value
  return value === 'true' || value === 'false' || PLAIN_INTEGER.test(value) ? `"${value}"` : ''
}
