/**
 * Maps errors written by pino's serializers (pino-std-serializers `err` and `errWithCause`), and objects with the shape
 * of an error.
 */
import type { EntryError, Json, JsonObject } from '../../protocol/log-entry.js'
import { createObject } from '../clean-copy.js'
import { isObject, remove, take, toPlainText } from '../coerce.js'
import { DOM_CONSTANTS, DOM_EXCEPTION, hasDomConstants } from '../dom-exception.js'

export interface ErrorParts {
  readonly error: EntryError
  /**
   * All other properties of the error, with causes and parts but without their stacks, which were appended to its own.
   */
  readonly rest: JsonObject
}

/**
 * Removes the error from `record`: under pino's error key, `err` or `error`. If no object has the shape of an error,
 * the record itself may be one. @param logged the record's message
 */
export function takeError(record: JsonObject, errorKey: string, logged?: string): ErrorParts | undefined {
  for (const key of [errorKey, 'err', 'error']) {
    const value = record[key]
    if (value === undefined) continue
    const message = toPlainText(value)
    if (message === undefined && !hasErrorField(value)) continue
    remove(record, key)
    return message === undefined ? normalize(value as JsonObject) : { error: { message }, rest: createObject() }
  }
  return takeFlatError(record, logged)
}

/**
 * Removes the first object with the shape of an error, or the first such item of a list. Must be called after `takeRequest`, since a request or a
 * response may have this shape, too.
 */
export function takeShapedError(record: JsonObject): ErrorParts | undefined {
  for (const key of Object.keys(record)) {
    const value = record[key]
    const list = Array.isArray(value) && key !== 'breadcrumbs' ? value : []
    const error = looksLikeError(value) ? value : list.find(looksLikeError)
    if (error === undefined) continue
    if (list.length > 1) record[key] = list.filter((item) => item !== error)
    else remove(record, key)
    return normalize(error)
  }
  return undefined
}

/**
 * The fields of an error with the names that serializers use; for the stack, also those of ECS, Google Cloud and
 * OpenTelemetry.
 */
const ERROR_FIELDS = [
  ['type', ['type']],
  ['message', ['message']],
  ['stack', ['stack', 'stack_trace', 'stacktrace']],
] as const

function hasErrorField(value: Json): boolean {
  return isObject(value) && ERROR_FIELDS.some(([, keys]) => findTextKey(value, keys) !== undefined)
}

function findTextKey(value: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) if (toPlainText(value[key]) !== undefined) return key
  return undefined
}

/** Whether a value under another key is an error: it must have a stack. */
function looksLikeError(value: Json | undefined): value is JsonObject {
  return (
    isObject(value) &&
    // pino's serializer writes an empty stack for parts that are not errors.
    ERROR_FIELDS[2][1].some((key) => Boolean(toPlainText(value[key]))) &&
    (toPlainText(value['message']) !== undefined || toPlainText(value['type']) !== undefined)
  )
}

/** Members of an error, apart from the stack, that winston's `errors()` writes into the record itself. */
const FLAT_MEMBERS = ['code', 'errno', 'syscall', 'cause']

function takeFlatError(record: JsonObject, logged = ''): ErrorParts | undefined {
  const stack = toPlainText(record['stack'])
  if (stack === undefined || !STACK_FRAME.test(stack) || Object.values(record).some(looksLikeError)) return undefined
  const source = Object.assign(createObject(), parseStackHead(stack), { stack })
  if (findMessageEnd(stack, logged) !== -1) source['message'] = logged
  remove(record, 'stack')
  // Excludes the name of a logger, which does not have this form.
  const type = take(record, ['name'], (value) =>
    typeof value === 'string' && (value === source['type'] || ERROR_NAME.test(value)) ? value : undefined,
  )
  if (type !== undefined) source['type'] = type
  for (const key of FLAT_MEMBERS) {
    if (record[key] === undefined) continue
    source[key] = record[key]
    remove(record, key)
  }
  return normalize(source)
}

const STACK_FRAME = /\n[ \t]+at /
const STACK_HEAD = /^(?:Uncaught )?([A-Za-z_$][\w$.]*)(?: \[[^\]]*\])?(?:: ([^]*?))?(?=\n[ \t]+at |\n?$)/
const ERROR_NAME = /^[A-Za-z_$][\w$.]*(?:Error|Exception)$|^(?:Error|Exception)$/
/** A longer head is not a name and a message. */
const MAX_HEAD_CHARS = 4_000

/**
 * Parses type and message from the text before V8's stack frames: `TypeError: message`. @param message the error's own,
 * if known
 */
export function parseStackHead(stack: string, message?: string): Pick<EntryError, 'type' | 'message'> | undefined {
  const frames = stack.search(STACK_FRAME)
  const head = STACK_HEAD.exec(stack.slice(0, Math.min(frames === -1 ? stack.length : frames, MAX_HEAD_CHARS)))
  const [, type, text = ''] = head ?? []
  if (type === undefined || (!ERROR_NAME.test(type) && (message === undefined || message === '' || message !== text)))
    return undefined
  return text === '' ? { type } : { type, message: text }
}

/** Maximum number of messages of parts that are joined. */
const MAX_JOINED = 4

function normalize(rest: JsonObject): ErrorParts {
  const error: EntryError = {}
  for (const [field, keys] of ERROR_FIELDS) {
    const text = take(rest, keys, toPlainText)
    if (text !== undefined) error[field] = text
  }
  const type = findType(takeType(error.type, rest), error)
  if (type) error.type = type
  else delete error.type
  if (error.message === '') error.message = joinMessages(rest['aggregateErrors'])
  if (error.message !== undefined && error.stack !== undefined)
    error.message = findOwnMessage(error.message, error.stack)
  foldCause(error, rest)
  for (const key of ['aggregateErrors', 'errors']) foldParts(error, rest, key)
  return { error, rest }
}

/**
 * Types that say nothing about the error: pino writes the name of its class, which is empty for an anonymous class, and
 * `Object` for an object with a message.
 */
const GENERIC_TYPES: ReadonlySet<string | undefined> = new Set([undefined, '', 'Error', 'Object', DOM_EXCEPTION])

/** The type, or the name at the start of the stack instead of a generic type. */
export function findType(
  type: string | undefined,
  { message, stack }: { message?: string | undefined; stack?: string | undefined },
): string | undefined {
  if (stack === undefined || !GENERIC_TYPES.has(type) || (type && stack.startsWith(`${type}: `))) return type
  return parseStackHead(stack, message)?.type ?? type
}

/**
 * The type, or the name instead of a generic type. Removes the name from `rest`, and with a DOMException its constants.
 */
function takeType(type: string | undefined, rest: JsonObject): string | undefined {
  if (hasDomConstants(rest)) for (const constant of DOM_CONSTANTS.keys()) remove(rest, constant)
  const name = toPlainText(rest['name'])
  // A name that the application or a library set: `err.name = 'TimeoutError'`.
  if (!GENERIC_TYPES.has(type) || !name) return type
  remove(rest, 'name')
  return name
}

/**
 * pino's serializer `err` appends this and a stack for each cause. It also appends the causes' messages to the message.
 */
const CAUSE_LABEL = 'caused by: '
const CAUSE_SEPARATOR = ': '
/** The name of an error may contain the separator, but rarely more often than this. */
const MAX_SEPARATORS = 3

/**
 * Removes the causes' messages that pino's serializer appended: returns `a` for the message `a: b` and the stack
 * `Error: a … caused by: Error: b …`. The stack starts with the error's own message, unless the application changed the
 * message later; then the stacks of the causes show the appended messages. Without such stacks, the message is divided
 * only if it has as many parts as there are errors; otherwise it is returned unchanged.
 */
function findOwnMessage(message: string, stack: string): string {
  if (!message.includes(CAUSE_SEPARATOR)) return message
  const [first, ...causes] = stack.split(`\n${CAUSE_LABEL}`)
  if (first === undefined || causes.length === 0) return message
  const candidates = [findHead(stack), findHead(first)].flatMap(findMessages)
  const own = chooseMessage(message, candidates)
  if (own !== undefined) return own
  const appended = causes.map((cause) => CAUSE_SEPARATOR + (findMessages(findHead(cause)).at(1) ?? '')).join('')
  if (message.endsWith(appended)) return message.slice(0, -appended.length)
  const parts = message.split(CAUSE_SEPARATOR)
  return parts.length === causes.length + 1 ? (parts[0] ?? message) : message
}

/** The message itself, or the first candidate to which messages of causes were appended. */
function chooseMessage(message: string, candidates: readonly string[]): string | undefined {
  // VError appends the messages of its causes itself.
  if (candidates.includes(message)) return message
  return candidates.find(
    (candidate) => message.startsWith(candidate) && message.startsWith(CAUSE_SEPARATOR, candidate.length),
  )
}

/** The lines of a stack before its frames. */
function findHead(stack: string): string {
  const frames = stack.indexOf('\n    at ')
  return frames === -1 ? stack : stack.slice(0, frames)
}

/** Candidates for the message in `TypeError: message`, the longest first. */
function findMessages(head: string): string[] {
  const messages = [head]
  for (let count = 0, at = 0; count < MAX_SEPARATORS; count += 1) {
    const separator = head.indexOf(CAUSE_SEPARATOR, at)
    if (separator === -1) break
    at = separator + CAUSE_SEPARATOR.length
    messages.push(head.slice(at))
  }
  return messages
}

/**
 * Joins the messages of parts, for an AggregateError without a message: Node throws one if no address accepts a
 * connection.
 */
function joinMessages(parts: Json | undefined): string {
  const messages = Array.isArray(parts)
    ? parts.map((part) => (isObject(part) ? toPlainText(part['message']) : undefined))
    : []
  return [...new Set(messages.filter((message) => message !== undefined))].slice(0, MAX_JOINED).join('; ')
}

/** Appends the cause to the stack, in the format of Node. The cause's other properties are kept in `rest`. */
function foldCause(error: EntryError, rest: JsonObject): void {
  const cause = rest['cause']
  if (!looksLikeError(cause)) return
  const folded = unfoldStack(cause)
  error.stack = appendStack(error.stack, CAUSE_LABEL, folded.stack)
  rest['cause'] = folded.rest
}

function foldParts(error: EntryError, rest: JsonObject, key: string): void {
  const parts = rest[key]
  if (!Array.isArray(parts) || !parts.some((part) => looksLikeError(part))) return
  rest[key] = parts.map((part, index) => {
    if (!looksLikeError(part)) return part
    const folded = unfoldStack(part)
    error.stack = appendStack(error.stack, `error ${index + 1} of ${parts.length}: `, folded.stack)
    return folded.rest
  })
}

/** The recursion is bounded: a record has at most 32 levels. */
function unfoldStack(source: JsonObject): { stack: string; rest: JsonObject } {
  const { error, rest } = normalize(source)
  const kept = createObject()
  if (error.type !== undefined) kept['type'] = error.type
  if (error.message !== undefined) kept['message'] = error.message
  for (const key of Object.keys(rest)) if (rest[key] !== undefined) kept[key] = rest[key]
  return { stack: error.stack ?? '', rest: kept }
}

function appendStack(stack: string | undefined, label: string, more: string): string {
  return stack === undefined ? label + more : `${stack}\n${label}${more}`
}

const FRAME = /^\s*at (?:.*\()?((?:[a-z]:)?[^()]*:\d+:\d+)\)?$/i
/** Frames are shorter. The expression above takes quadratic time, so longer text is skipped. */
const MAX_FRAME_CHARS = 1_000
const MAX_FRAMES = 100
const NOT_APPLICATION = /node_modules|^node:|^internal\/|<anonymous>|^native/

/** `/app/src/orders.js:12:5` of one line of a V8 stack, or `undefined` if it is not the application's. */
function parseFrameLocation(line: string): string | undefined {
  if (line.length > MAX_FRAME_CHARS) return undefined
  // Most frames are not the application's, and a search is faster than the expression.
  const at = line.lastIndexOf('(') + 1
  if (line.includes('node_modules', at) || line.startsWith('node:', at)) return undefined
  const place = FRAME.exec(line)?.[1]?.replace(/^async /, '')
  return place === undefined || NOT_APPLICATION.test(place) ? undefined : place.replace(/^file:\/\//, '')
}

/** Position after a message of several lines at the start of the stack; -1 if the stack does not start with it. */
function findMessageEnd(stack: string, message: string): number {
  const at = message.includes('\n') ? stack.indexOf(message) : -1
  return at === -1 || at > stack.indexOf('\n') ? -1 : at + message.length
}

/**
 * Location where the application threw: the top frame that is neither Node's nor a dependency's. Frames in the message
 * are those of another error.
 */
export function findTopFrame({ stack, message = '' }: EntryError): string | undefined {
  if (stack === undefined) return undefined
  let at = stack.indexOf('\n', findMessageEnd(stack, message))
  for (let frames = 0; at !== -1 && frames < MAX_FRAMES; frames += 1) {
    const next = stack.indexOf('\n', at + 1)
    const location = parseFrameLocation(stack.slice(at + 1, next === -1 ? stack.length : next))
    if (location !== undefined) return location
    at = next
  }
  return undefined
}
