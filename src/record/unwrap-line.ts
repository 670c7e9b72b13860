/** Removes the prefix or object with which container runtimes, init systems and process managers wrap a line of an application. Pure. */
import { isObject } from './coerce.js'
import type { Mapper } from './mapper.js'
import type { Json } from '../protocol/log-entry.js'

export interface UnwrappedLine {
  /** What the application wrote, with newlines between its lines. */
  readonly text: string
  /** The stream whose next line continues the text; undefined if the text is complete. */
  readonly continuedIn?: string | undefined
  /** The stream whose earlier parts the text completes. */
  readonly stream?: string | undefined
}

/** Objects that contain a line: what each of them has, and the member with the line. */
const WRAPPER_OBJECTS = [
  // json-file of Docker; the last part of a long line ends with a newline.
  [/"stream":"std(?:out|err)"/, 'log'],
  // journalctl -o json
  [/"__REALTIME_TIMESTAMP":"/, 'MESSAGE'],
  // PM2 with log_type json
  [/"type":"(?:out|err)","process_id":/, 'message'],
  // an export of the local service, tail --json, query --json
  [/^\{"id":"[^"]*","seq":\d+,"received_at":"/, 'entry'],
] as const

const COLORS = '(?:\\u001b\\[[\\d;]*m)*'
const TIME = String.raw`\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?`
/** Host, and name with process id. */
const TAG = String.raw`(?:[^\s{]*[^\s:{] )?[^\s[{]+\[[\w.-]+\]:`
/** Prefixes that no application writes itself, without the space that follows. */
const PREFIXES = [
  // Kubernetes (CRI); P marks a part of a line, F its last part.
  String.raw`${TIME} (?<stream>stdout|stderr) (?<tag>[FP])(?::\S*)?`,
  // docker compose logs, docker service logs, pm2 logs
  String.raw`(?:[a-zA-Z][\w.-]*[-_.]\d+(?:\.\w+@\S+)? {2,}|\d+\|\S+ +)\|`,
  // kubectl logs --prefix, kubectl logs --timestamps
  String.raw`\[pod/[^\]\s]+\]`,
  String.raw`[\dT:-]{19}\.\d{9}Z`,
  // syslog (RFC 3164) and journalctl, rsyslog and Heroku, syslog (RFC 5424)
  String.raw`(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? (?:\S*[^\s:] )?[^\s:{"]+:`,
  String.raw`(?:<\d{1,3}>)?${TIME} ${TAG}`,
  String.raw`(?:\d+ )?<\d{1,3}>1(?: \S+){5} (?:-|(?:\[(?:[^\]\\]|\\.)*\])+)`,
]
/** Prefixes that an application's text may have as well. They are removed only before a record. */
const RECORD_PREFIXES = [
  String.raw`${TIME}:?(?: [^\s{]+)?`,
  String.raw`[\w.@/-]+ *\|`,
  // journalctl with the other forms of -o short
  String.raw`(?:(?:[A-Z][a-z]{2} ${TIME} [\w+:-]+|\[[\d. <>]+\]|\d+\.\d+) )?${TAG}`,
]
const PREFIX = new RegExp(
  `^${COLORS}(?:(?:${PREFIXES.join('|')})${COLORS}(?: |$)|(?<ambiguous>${RECORD_PREFIXES.join('|')})${COLORS} (?=${COLORS}\\{))${COLORS}`,
)
/** A longer prefix is not recognized. */
const MAX_PREFIX_CHARS = 512

/** @returns undefined if the line is not wrapped; null if the journal has left out the application's text */
export function unwrapLine(line: string, mapper: Pick<Mapper, 'isRecord'>): UnwrappedLine | undefined | null {
  const [, member] = (line.startsWith('{"') && WRAPPER_OBJECTS.find(([mark]) => mark.test(line))) || []
  if (member !== undefined) return unwrapObject(line, member)
  const found = PREFIX.exec(line.slice(0, MAX_PREFIX_CHARS))
  if (found === null) return undefined
  const { stream, tag, ambiguous } = found.groups ?? {}
  const text = line.slice(found[0].length)
  if (ambiguous !== undefined && !mapper.isRecord(text)) return undefined
  return { text, stream, continuedIn: tag === 'P' ? stream : undefined }
}

function unwrapObject(line: string, member: string): UnwrappedLine | undefined | null {
  let wrapper: Json
  try {
    wrapper = JSON.parse(line) as Json
  } catch {
    return undefined
  }
  if (!isObject(wrapper) || wrapper['level'] !== undefined) return undefined
  const value = wrapper[member]
  // journalctl writes text with control characters as a list of bytes, several texts as a list, and null for a long text.
  const text = Array.isArray(value) ? readTexts(value) : isObject(value) ? JSON.stringify(value) : value
  if (typeof text !== 'string') return member === 'MESSAGE' && value === null ? null : undefined
  const stream = member === 'log' ? String(wrapper['stream']) : undefined
  return { text: text.replace(/\r?\n$/, ''), stream, continuedIn: text.endsWith('\n') ? undefined : stream }
}

function readTexts(list: readonly Json[]): string | undefined {
  if (list.length === 0) return undefined
  if (list.every((item) => typeof item === 'number')) return Buffer.from(list).toString()
  return list.every((item) => typeof item === 'string') ? list.join('\n') : undefined
}
