/**
 * Names of entry fields in other log formats, and their look-up in a record. Members may be nested or dotted in any
 * mix: `http.request.method`, `{ http: { 'request.method': … } }`.
 *
 * - ECS: Elastic Common Schema 8, as written by `@elastic/ecs-pino-format` and `@elastic/ecs-winston-format`
 * - Google Cloud: structured logging, as written by `@google-cloud/pino-logging-gcp-config`, and events of Error
 *   Reporting
 * - OpenTelemetry: log data model (camel, snake and Pascal case, OTLP's JSON encoding) and current and older semantic
 *   conventions
 * - Datadog's `dd`, as injected by `dd-trace`
 * - ids of traces under the names of the headers of B3 and AWS X-Ray, and of libraries for AWS Lambda
 * - logstash, as written by winston's format
 */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { hasMembers, isObject, remove, toIdText, toInteger, toIsoTime, toNumber, toPlainText } from '../coerce.js'

/** Formats that a record may have, as bits. */
const Mark = { ecs: 1, otel: 2, gcpError: 4 } as const

/** The spellings of a member's path: the whole path as one key, or a key and the path within its object. */
interface Path {
  readonly text: string
  readonly splits: readonly (readonly [key: string, keyHasDot: boolean, rest: Path])[]
}

const PATHS = new Map<string, Path>()

function toPath(text: string): Path {
  const known = PATHS.get(text)
  if (known !== undefined) return known
  const parts = text.split('.')
  const splits = parts.slice(1).map((_, index) => {
    const rest = toPath(parts.slice(index + 1).join('.'))
    return [parts.slice(0, index + 1).join('.'), index > 0, rest] as const
  })
  const path = { text, splits }
  PATHS.set(text, path)
  return path
}

interface Name {
  readonly path: Path
  /** First segment of the path. */
  readonly root: string
  /** Whether applications do not use the name for other data, so it is recognized in every record. */
  readonly isSure: boolean
  /** Recognized only in records of this format. */
  readonly needs?: number
  /** Converts the value to the field's unit. */
  readonly convert?: (value: Json) => Json | undefined
}

function toName(path: string, options: Partial<Name> = {}): Name {
  return { path: toPath(path), root: rootOf(path), isSure: path.split('.').length > 2, ...options }
}

function rootOf(key: string): string {
  const dot = key.indexOf('.')
  return dot === -1 ? key : key.slice(0, dot)
}

function sure(path: string, convert?: Name['convert']): Name {
  return toName(path, { isSure: true, ...(convert && { convert }) })
}

/** Google Cloud's HttpRequest, under its names for structured logging and for Fluent Bit. */
function httpRequest(member: string, convert?: Name['convert']): Name[] {
  return ['httpRequest', 'logging.googleapis.com/http_request'].map((holder) => sure(`${holder}.${member}`, convert))
}

/** The context of an event of Error Reporting. */
function errorContext(member: string): Name {
  return toName(`context.${member}`, { needs: Mark.gcpError })
}

const STACK = /\n[ \t]+at /
/**
 * W3C Trace Context, section 3.2.2.4. Elastic's transactions and spans use this form, too; other transactions do not.
 */
const SPAN_ID = /^[\da-f]{16}$/i
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']

/** File and line of the origin. */
const SOURCES: readonly (readonly [Name, Name])[] = [
  [sure('logging.googleapis.com/sourceLocation.file'), sure('logging.googleapis.com/sourceLocation.line')],
  [toName('log.origin.file.name'), toName('log.origin.file.line')],
  [toName('code.file.path'), toName('code.line.number')],
  [toName('code.filepath'), toName('code.lineno')],
  [errorContext('reportLocation.filePath'), errorContext('reportLocation.lineNumber')],
  [sure('src.file'), sure('src.line')], // bunyan
]

const OTEL_LEVELS = [
  ...['severityText', 'severity_text', 'SeverityText'].map((path) => sure(path)),
  ...['severityNumber', 'severity_number', 'SeverityNumber'].map((path) => sure(path, toSeverityName)),
]

/** Names by field, in order of precedence; names of the current conventions come first. */
const NAMES = {
  // Members that identify a format, or that applications use for nothing else.
  'sign.ecs': [sure('ecs.version')],
  'sign.gcpError': [sure('@type')],
  'sign.otel': OTEL_LEVELS,
  'sign.method': [sure('http.request.method')],
  'sign.status': [sure('http.response.status_code')],
  origin: SOURCES.flat(),
  level: [sure('log.level'), ...OTEL_LEVELS],
  time: [
    ...['timeUnixNano', 'time_unix_nano', 'Timestamp'].map((path) => sure(path, toKnownTime)),
    ...['observedTimeUnixNano', 'observed_time_unix_nano', 'observedTimestamp', 'ObservedTimestamp'].map((path) =>
      sure(path, toKnownTime),
    ),
  ],
  message: [
    sure('@message'),
    ...['body', 'Body', 'body.stringValue'].map((path) => toName(path, { needs: Mark.otel })),
  ],
  service: [toName('service.name'), sure('serviceContext.service'), sure('dd.service')],
  version: [toName('service.version'), sure('serviceContext.version'), sure('dd.version')],
  environment: [
    toName('service.environment'),
    toName('deployment.environment.name'),
    toName('deployment.environment'),
    sure('dd.env'),
  ],
  session_id: [toName('session.id')],
  request_id: [toName('http.request.id')],
  action: [toName('event.action')],
  'user.id': [toName('user.id'), sure('enduser.id'), errorContext('user')],
  'user.email': [toName('user.email')],
  'user.name': [toName('user.name'), toName('user.full_name')],
  'error.type': [toName('error.type'), sure('exception.type')],
  'error.message': [toName('error.message'), sure('exception.message')],
  'error.stack': [
    sure('error.stack_trace'),
    sure('exception.stacktrace'),
    sure('stack_trace'),
    sure('exception', toStack),
  ],
  'trace.trace_id': [sure('trace.id'), sure('logging.googleapis.com/trace', toTraceId), sure('TraceId')],
  'trace.span_id': [
    sure('span.id', toSpanId),
    sure('logging.googleapis.com/spanId'),
    sure('SpanId'),
    toName('transaction.id', { convert: toSpanId }),
  ],
  'trace.parent_span_id': [toName('parent.id')],
  'b3.trace_id': ['X-B3-TraceId', 'x-b3-traceid'].map((path) => sure(path, toHexId(32))),
  'b3.span_id': ['X-B3-SpanId', 'x-b3-spanid'].map((path) => sure(path, toHexId(16))),
  'b3.parent_span_id': ['X-B3-ParentSpanId', 'x-b3-parentspanid'].map((path) => sure(path, toHexId(16))),
  'dd.trace_id': [sure('dd.trace_id', toHexId(32, true))],
  'dd.span_id': [sure('dd.span_id', toHexId(16, true))],
  'dd.parent_span_id': [sure('dd.parent_id', toHexId(16, true))],
  headers: [toName('http.request.headers')],
  // The whole text of a header; and the id of AWS X-Ray, as written by pino-lambda and Powertools.
  traceparent: [
    ...['traceparent', 'b3', 'x-amzn-trace-id', 'X-Amzn-Trace-Id', 'x-correlation-trace-id'],
    ...['xray_trace_id', 'AWS-XRAY-TRACE-ID'],
  ].map((path) => sure(path)),
  'request.method': [
    toName('http.request.method'),
    toName('http.method'),
    ...httpRequest('requestMethod'),
    errorContext('httpRequest.method'),
  ],
  'request.url': [
    toName('url.full'),
    toName('url.original'),
    toName('http.url'),
    toName('http.target'),
    ...httpRequest('requestUrl'),
    errorContext('httpRequest.url'),
  ],
  'request.path': [toName('url.path')],
  'request.query': [toName('url.query')],
  'request.status_code': [
    toName('http.response.status_code'),
    toName('http.status_code'),
    ...httpRequest('status'),
    errorContext('httpRequest.responseStatusCode'),
  ],
  'request.ip': [
    toName('client.ip'),
    toName('client.address'),
    toName('http.client_ip'),
    ...httpRequest('remoteIp'),
    errorContext('httpRequest.remoteIp'),
  ],
  'request.user_agent': [
    sure('user_agent.original'),
    toName('http.user_agent'),
    ...httpRequest('userAgent'),
    errorContext('httpRequest.userAgent'),
    toName('http.request.headers.user-agent'),
  ],
  duration_ms: [
    ...httpRequest('latency', toDurationMs),
    toName('event.duration', { needs: Mark.ecs, convert: toMsFromNanos }),
  ],
  // Names of metadata that the transport uses.
  pid: [toName('process.pid')],
  hostname: [toName('host.hostname'), toName('host.name')],
  name: [toName('log.logger')],
  route: [toName('http.route')],
} satisfies Record<string, readonly Name[]>

export type DialectField = keyof typeof NAMES

const ALL_NAMES: readonly Name[] = Object.values(NAMES).flat()
const FIELDS_OF_ROOTS = new Map<string, readonly DialectField[]>()
for (const [field, names] of Object.entries(NAMES) as [DialectField, readonly Name[]][])
  for (const { root } of names) FIELDS_OF_ROOTS.set(root, [...(FIELDS_OF_ROOTS.get(root) ?? []), field])
const ERROR_EVENT = /ReportedErrorEvent$/

/** Keys of a record that identify a format, or whose value may become a field in any format. */
export const DIALECT_KEYS: ReadonlySet<string> = new Set([
  ...ALL_NAMES.filter(({ needs }) => needs === undefined).map(({ path }) => path.text),
  'url.password',
  'url.username',
  'context.httpRequest',
  ...['headers', 'body'].flatMap((key) => [`httpRequest.${key}`, `context.httpRequest.${key}`]),
])

/** Names of the parts of an OpenTelemetry record that contain attributes. */
const ATTRIBUTES = ['attributes', 'resource.attributes', 'resource', 'Attributes', 'Resource.attributes', 'Resource']

/**
 * Keys of a record whose members, if the value is a container, identify a format or may become fields in any format.
 */
export const DIALECT_HOLDERS: ReadonlySet<string> = new Set([
  ...ALL_NAMES.filter(({ isSure, needs }) => isSure && needs === undefined).flatMap(({ path }) =>
    prefixesOf(path.text),
  ),
  'url',
  ...ATTRIBUTES,
  '@fields',
  '@timestamp',
  'timestamp',
])

function prefixesOf(path: string): string[] {
  const parts = path.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}

/** Roots that are complete names. */
const ROOT_NAMES: ReadonlySet<string> = new Set(ALL_NAMES.map(({ path }) => path.text))
const ATTRIBUTE_PATHS = ATTRIBUTES.map(toPath)

/** Whether a member of a record may belong to another format. */
export function isDialectKey(key: string, isContainer: boolean): boolean {
  const root = rootOf(key)
  return FIELDS_OF_ROOTS.has(root) && (key !== root || isContainer || ROOT_NAMES.has(key))
}

/** Headers and bodies of HTTP, and a URL's user info. */
const UNSENT =
  /^(?:http\.re(?:quest|sponse)|(?:context\.)?httpRequest|logging\.googleapis\.com\/http_request)\.(?:(?:raw_?)?headers?|trailers?|(?:raw_?)?body(?!\.(?:bytes|size)$))(?:\.|$)|^url\.(?:password|username)$/i
const UNSENT_HOLDER =
  /^(?:http(?:\.re(?:quest|sponse)(?:\.body)?)?|url|context|(?:context\.)?httpRequest|logging\.googleapis\.com\/http_request)$/

/** Whether `removeUnsent` may change a member of a record with this key. */
export function mayBeUnsent(key: string): boolean {
  return UNSENT.test(key) || UNSENT_HOLDER.test(key) || ATTRIBUTES.includes(key)
}

/** Finds and removes the members of other formats in a record. */
export class DialectRecord {
  readonly #record: JsonObject
  /** Roots of the keys that may belong to another format. */
  readonly #roots = new Set<string>()
  /** The fields that they may become, unless there are attributes. */
  readonly #fields = new Set<DialectField>()
  #marks = 0
  /** Prefixes of the paths of attributes, `` for the record itself. */
  #prefixes: readonly string[] = ['']
  /** Whether names that applications use for other data are also recognized. */
  #isMarked = false

  /** @param record a clean copy, which the methods change */
  constructor(record: JsonObject) {
    this.#record = record
    for (const key of Object.keys(record)) {
      if (!isDialectKey(key, typeof record[key] === 'object')) continue
      const root = rootOf(key)
      this.#roots.add(root)
      for (const field of FIELDS_OF_ROOTS.get(root) ?? []) this.#fields.add(field)
    }
    if (!this.isEmpty) this.#findMarks()
  }

  /** Whether no member can belong to another format. */
  get isEmpty(): boolean {
    return this.#roots.size === 0
  }

  get isEcs(): boolean {
    return (this.#marks & Mark.ecs) !== 0
  }

  mayHave(field: DialectField): boolean {
    return this.#fields.has(field) || this.#prefixes.length > 1
  }

  /** Whether the message of an event of Error Reporting is the stack of its error. */
  isStack(message: string | undefined): message is string {
    return (this.#marks & Mark.gcpError) !== 0 && message !== undefined && STACK.test(message)
  }

  /**
   * The value of a field: `known`, or the first value under a name of another format that `read` accepts. Further
   * values are removed from the record if they repeat the first, and kept otherwise.
   */
  resolve<T>(
    field: DialectField,
    known: T | undefined,
    read: (value: Json) => T | undefined,
    repeats: (first: T, other: T) => boolean = (first, other) => first === other,
  ): T | undefined {
    if (!this.mayHave(field)) return known
    let first = known
    for (const name of NAMES[field] as readonly Name[])
      this.#take(name, (value) => {
        const converted = name.convert === undefined ? value : name.convert(value)
        const other = converted === undefined ? undefined : read(converted)
        if (other === undefined || (first !== undefined && !repeats(first, other))) return undefined
        first ??= other
        return other
      })
    return first
  }

  /** `file:line`, or the file alone. */
  takeSource(): string | undefined {
    if (!this.mayHave('origin')) return undefined
    for (const [file, line] of SOURCES) {
      const path = this.#take(file, toPlainText)
      if (path === undefined) continue
      const number = this.#take(line, toInteger)
      return number === undefined ? path : `${path}:${number}`
    }
    return undefined
  }

  /** Headers and bodies are not sent. */
  removeUnsent(): void {
    removeUnsent(this.#record, '')
    for (const path of ATTRIBUTE_PATHS) {
      takeAt(this.#record, path, true, (value) => {
        if (!hasMembers(value)) return undefined
        removeUnsent(value, '')
        return hasMembers(value) ? undefined : value
      })
    }
  }

  #take<T>({ path, root, needs = 0, isSure }: Name, read: (value: Json) => T | undefined): T | undefined {
    if ((needs & ~this.#marks) !== 0) return undefined
    for (const prefix of this.#prefixes) {
      if (prefix === '' && !this.#roots.has(root)) continue
      const full = prefix === '' ? path : toPath(`${prefix}.${path.text}`)
      const found = takeAt(this.#record, full, isSure || this.#isMarked, read)
      if (found !== undefined) return found
    }
    return undefined
  }

  #has(path: Path, is: (value: Json) => boolean): boolean {
    let has = false
    takeAt(this.#record, path, true, (value) => void (has ||= is(value)))
    return has
  }

  #hasSign(sign: DialectField, is: (value: Json) => boolean): boolean {
    return this.#fields.has(sign) && (NAMES[sign] as readonly Name[]).some(({ path }) => this.#has(path, is))
  }

  #findMarks(): void {
    const isText = (value: Json): boolean => typeof value === 'string'
    const isNumber = (value: Json): boolean => toInteger(value) !== undefined
    if (this.#hasSign('sign.ecs', isText)) this.#marks |= Mark.ecs
    if (this.#hasSign('sign.gcpError', (value) => typeof value === 'string' && ERROR_EVENT.test(value)))
      this.#marks |= Mark.gcpError
    if (this.#hasSign('sign.otel', (value) => isText(value) || isNumber(value))) {
      this.#marks |= Mark.otel
      const holders = ATTRIBUTE_PATHS.filter((path) => this.#has(path, isObject) || this.#readsList(path.text))
      this.#prefixes = ['', ...holders.map(({ text }) => text)]
    }
    this.#isMarked = this.#marks !== 0 || this.#hasSign('sign.method', isText) || this.#hasSign('sign.status', isNumber)
  }

  /** Replaces a list of attributes, as in OTLP's JSON encoding, with an object. */
  #readsList(path: string): boolean {
    const [root = '', inner] = path.split('.')
    const holder = inner === undefined ? this.#record : this.#record[root]
    const key = inner ?? root
    if (!isObject(holder)) return false
    const attributes = fromKeyValues(holder[key])
    if (attributes === undefined) return false
    holder[key] = attributes
    return true
  }
}

export const NO_DIALECT = new DialectRecord({})

/** Google Cloud's second form of a timestamp. */
export function takeSplitTime(record: JsonObject): string | undefined {
  const { timestampSeconds: seconds, timestampNanos: nanos } = record
  const time = seconds === undefined ? undefined : toIsoTime(nanos === undefined ? { seconds } : { seconds, nanos })
  if (time === undefined) return undefined
  remove(record, 'timestampSeconds')
  remove(record, 'timestampNanos')
  return time
}

/**
 * Removes the first value at `path` that `read` accepts, and objects that become empty.
 *
 * @param isSure whether the path is recognized even if no key on it has a dot
 */
function takeAt<T>(
  holder: JsonObject,
  path: Path,
  isSure: boolean,
  read: (value: Json) => T | undefined,
): T | undefined {
  const value = holder[path.text]
  if (value !== undefined && (isSure || path.splits.length > 0)) {
    const result = read(value)
    if (result !== undefined) {
      remove(holder, path.text)
      return result
    }
  }
  for (const [key, keyHasDot, rest] of path.splits) {
    const inner = holder[key]
    if (!isObject(inner)) continue
    const result = takeAt(inner, rest, isSure || keyHasDot, read)
    if (result === undefined) continue
    if (!hasMembers(inner)) remove(holder, key)
    return result
  }
  return undefined
}

function removeUnsent(holder: JsonObject, prefix: string): void {
  for (const key of Object.keys(holder)) {
    const path = prefix + key
    const value = holder[key]
    if (hasMembers(value) && UNSENT_HOLDER.test(path)) {
      removeUnsent(value, `${path}.`)
      if (!hasMembers(value)) remove(holder, key)
    } else if (UNSENT.test(path)) remove(holder, key)
  }
}

/**
 * OTLP's AnyValue and KeyValue in JSON (opentelemetry-proto, common.proto). The recursion is bounded: a record has at
 * most 32 levels.
 */
function fromKeyValues(list: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const object = Object.create(null) as JsonObject
  for (const item of list) {
    if (!isObject(item) || typeof item['key'] !== 'string' || !isObject(item['value'])) return undefined
    if (Object.hasOwn(object, item['key'])) return undefined
    object[item['key']] = fromAnyValue(item['value'])
  }
  return object
}

function fromAnyValue(value: JsonObject): Json {
  const [[kind, inner] = []] = Object.entries(value)
  if (Object.keys(value).length !== 1 || inner === undefined) return value
  const values = isObject(inner) ? inner['values'] : undefined
  if (kind === 'arrayValue' && Array.isArray(values))
    return values.map((item) => (isObject(item) ? fromAnyValue(item) : item))
  if (kind === 'kvlistValue') return fromKeyValues(values) ?? value
  return kind === 'stringValue' || kind === 'intValue' || kind === 'doubleValue' || kind === 'boolValue' ? inner : value
}

/** 1 to 24 (log data model, SeverityNumber), or its name in protobuf. */
function toSeverityName(value: Json): Json | undefined {
  if (typeof value === 'string' && value.startsWith('SEVERITY_NUMBER_')) return value.slice('SEVERITY_NUMBER_'.length)
  const number = toInteger(value)
  if (number === undefined || number < 1 || number > 24) return undefined
  const step = (number - 1) % 4
  return `${SEVERITIES[Math.floor((number - 1) / 4)]}${step === 0 ? '' : step + 1}`
}

/** 0 means an unknown time (log data model, Timestamp). */
function toKnownTime(value: Json): Json | undefined {
  return toNumber(value) === 0 ? undefined : value
}

function toStack(value: Json): Json | undefined {
  return typeof value === 'string' && STACK.test(value) ? value : undefined
}

/** `projects/PROJECT/traces/ID`, or the id alone. */
function toTraceId(value: Json): Json | undefined {
  if (typeof value !== 'string' || !value.includes('/')) return value
  return /\/traces\/([^/]+)$/.exec(value)?.[1]
}

function toSpanId(value: Json): Json | undefined {
  return typeof value === 'string' && SPAN_ID.test(value) ? value : undefined
}

/**
 * Ids in the form of OpenTelemetry, with this number of digits; ids of 64 bits are padded. Datadog's are decimal, but
 * for trace ids of 128 bits.
 */
function toHexId(digits: number, isDatadog = false): (value: Json) => Json | undefined {
  return (value) => {
    const text = toIdText(value) ?? ''
    const isDecimal = isDatadog && /^\d{1,20}$/.test(text)
    if (!isDecimal && !/^(?:[\da-f]{16}){1,2}$/.test(text)) return undefined
    const id = isDecimal ? BigInt(text).toString(16) : text
    return id.length > digits || /^0+$/.test(id) ? undefined : id.padStart(digits, '0')
  }
}

/** protobuf's Duration: `0.123s`, or seconds and nanoseconds. */
function toDurationMs(value: Json): Json | undefined {
  if (isObject(value)) return msOfDuration(value['seconds'], value['nanos'])
  const seconds = typeof value === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(value)?.[1] : undefined
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1e9) / 1e6
}

function msOfDuration(seconds: Json | undefined, nanos: Json | undefined): number | undefined {
  const whole = seconds === undefined ? 0 : toInteger(seconds)
  const part = nanos === undefined ? 0 : toInteger(nanos)
  return whole === undefined || part === undefined || (seconds === undefined && nanos === undefined)
    ? undefined
    : whole * 1e3 + part / 1e6
}

function toMsFromNanos(value: Json): Json | undefined {
  const nanos = toNumber(value)
  return nanos === undefined || nanos < 0 ? undefined : nanos / 1e6
}
