/** [main] Adds the fields of the scope to each record. */
import { checkArgument, isFunction } from '../../shared/argument-checks.js'
import type { Logger, LoggerOptions } from 'pino'
import { LEVELS } from '../../protocol/log-entry.js'
import type { Breadcrumb } from '../../protocol/log-entry.js'
import { PINO_LEVELS, resolveLevel } from '../../record/coerce.js'
import { takeBreadcrumbs } from '../scope/scope-breadcrumbs.js'
import { readErrorKey, readPinoProperty } from './pino-symbols.js'
import { findRoute } from './route.js'
import { parseId } from '../scope/scope-context.js'
import { isSameUser, hasUser } from '../scope/scope.js'
import { findHistory, findOrCreateRequestError, findResponseScope, findScope } from '../scope/app-state.js'
import type { Scope, ScopeFacts, ScopeHistory, ScopeRequest, ScopeTrace, ScopeUser } from '../scope/app-state.js'

/** pino's type of the option `mixin`. */
export type IngestMixin<CustomLevels extends string = never> = NonNullable<LoggerOptions<CustomLevels>['mixin']>

/** The added fields, under names that the transport maps. */
interface AddedFields extends ScopeTrace {
  user?: ScopeUser
  user_id?: string
  session_id?: string
  request_id?: string
  tags?: readonly string[]
  route?: string
  breadcrumbs?: Breadcrumb[]
  event_id?: string
  req?: object
}

type Fields = Readonly<Record<string, unknown>>

/** A child logger's bindings. pino stores them as text; the parsed fields are cached. */
interface Bound {
  readonly text: string
  readonly fields: ReadonlyMap<string, unknown>
}

/** The used part of OpenTelemetry's API. */
interface Registered {
  readonly context?: {
    active(): { getValue(key: symbol): { spanContext(): { traceId?: unknown; spanId?: unknown } } | undefined }
  }
}

const ERROR = LEVELS.indexOf('error')
/** pino's own number. */
const PINO_ERROR = 50
const USER_NAMES = ['user', 'user_id', 'userId']
const TRACE_NAMES = ['trace_id', 'traceId', 'span_id', 'spanId', 'parent_span_id', 'parentSpanId', 'trace', 'dd']
const NO_FIELDS: Bound['fields'] = new Map()
const bindings = new WeakMap<object, Bound>()

/**
 * OpenTelemetry's API stores registrations under a symbol of the global object, which all its copies use (`global-utils` of
 * `@opentelemetry/api`); the context has the span under another symbol. Both names are fixed for major version 1.
 * Reading them needs no import, finds the copy that the application uses, and costs nothing without OpenTelemetry.
 */
const API = Symbol.for('opentelemetry.js.api.1')
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/

/**
 * A `mixin` for pino: `pino({ mixin: ingestMixin() })`. `ingestOptions()` includes it.
 *
 * It adds to each record the user, session, request, tags and fields of the current `withScope()`; the ids of
 * OpenTelemetry's active span, otherwise the scope's trace; if `res` is logged, the `route` pattern of Express or
 * Fastify; and from level error up the breadcrumbs of `addBreadcrumb()`, each of them
 * once, and within `requestScope()` the request and an `event_id`.
 *
 * The record's own fields take precedence, as do a child logger's bindings and the result of the app's own mixin. Users and
 * traces are overridden as a whole: parts of two are never mixed. Never throws by itself.
 *
 * @param appMixin the application's own, called first, as pino would call it
 * @throws IngestError `CONFIG` if it is not a function: pino itself would throw only at the first record.
 * @see https://getpino.io/#/docs/api?id=mixin-function
 */
export function ingestMixin<CustomLevels extends string = never>(
  appMixin?: IngestMixin<CustomLevels>,
): IngestMixin<CustomLevels> {
  return createIngestMixin(appMixin, 'res')
}

/** As `ingestMixin()`. @param responseKey under which the application logs a response */
export function createIngestMixin<CustomLevels extends string>(
  appMixin: IngestMixin<CustomLevels> | undefined,
  responseKey: string,
): IngestMixin<CustomLevels> {
  checkArgument('mixin', 'a function', appMixin === undefined || isFunction(appMixin), appMixin)
  return (mergeObject, level, logger) => {
    const own = appMixin?.(mergeObject, level, logger) ?? {}
    try {
      const added = collectFields(new RecordFields(mergeObject, own, logger), level, responseKey)
      // Not a spread of both: pino adds the record to the result, which would then take 4 us instead of 0.1 us.
      if (appMixin !== undefined) Object.assign(added, own)
      return Object.hasOwn(mergeObject, '__proto__') ? withOwnProto(added) : added
    } catch {
      return own // a proxy that throws
    }
  }
}

/** pino's option `mixinMergeStrategy`: same as pino's own, but does not copy the record if nothing is added. */
export function mergeMixin(record: object, added: object): object {
  for (const _ in added) return Object.assign(added, record)
  return record
}

/**
 * Adds an own member `__proto__`: pino assigns the record's members to the result, and `__proto__` would otherwise set
 * its prototype.
 */
function withOwnProto(added: object): object {
  return Object.defineProperty(added, '__proto__', {
    value: undefined,
    configurable: true,
    enumerable: true,
    writable: true,
  })
}

function collectFields(record: RecordFields, level: number, responseKey: string): Fields & AddedFields {
  const response = record.value(responseKey)
  const scope = findRecordScope(response)
  const facts = scope?.facts
  const added: Record<string, unknown> & AddedFields = {}
  if (facts !== undefined) {
    const { fields } = facts
    if (fields !== undefined) for (const name of Object.keys(fields)) if (!record.has(name)) added[name] = fields[name]
    addIdentity(added, facts, record)
  }
  const trace = findActiveSpanIds() ?? facts?.trace
  if (trace !== undefined && !record.hasAny(TRACE_NAMES)) Object.assign(added, trace)
  const route = response === undefined || record.has('route') ? undefined : findRoute(response)
  if (route !== undefined) added.route = route
  const history = scope?.history ?? findHistory()
  const { breadcrumbs, request } = history
  if (breadcrumbs.length === 0 && request === undefined) return added
  const isError = isFailure(level, record.logger)
  if (request !== undefined && (isError || request.errors.size > 0))
    addRequestError(added, history, request, record, isError)
  if (isError && breadcrumbs.length > 0 && !record.has('breadcrumbs')) added.breadcrumbs = takeBreadcrumbs(history)
  return added
}

/**
 * The scope of the logged response if it belongs to another request, else the current scope.
 *
 * @param response of Node, or of Fastify
 */
function findRecordScope(response: unknown): Scope | undefined {
  const current = findScope()
  if (typeof response !== 'object' || response === null) return current
  const { raw } = response as { raw?: unknown }
  const own = findResponseScope(typeof raw === 'object' && raw !== null ? raw : response)
  return own === undefined || own.history === current?.history ? current : own
}

/** Adds `req` to a record at level error, and `event_id` to the first record of an error of the request, and to its first at level error. */
function addRequestError(
  added: AddedFields,
  history: ScopeHistory,
  { errors, method, url }: ScopeRequest,
  record: RecordFields,
  isError: boolean,
): void {
  const error = record.error()
  const known =
    isError && error !== undefined
      ? findOrCreateRequestError(history, error, parseId(record.value('event_id')))
      : errors.get(error)
  if (known !== undefined && !(isError ? known.isLogged : known.isReferenced)) {
    if (!record.has('event_id')) added.event_id = known.eventId
    known.isReferenced = true
    known.isLogged ||= isError
  }
  if (isError && !record.hasAny(['req', 'request'])) added.req = { method, url }
}

/** As the transport decides: custom levels may have other numbers than pino's. */
function isFailure(level: number, logger: object): boolean {
  const labels = (logger as Partial<Logger>).levels?.labels ?? PINO_LEVELS
  if (labels[level] === PINO_LEVELS[level] && labels[level] !== undefined) return level >= PINO_ERROR
  return (resolveLevel(level, labels)?.severity ?? -1) >= ERROR
}

function addIdentity(added: AddedFields, facts: ScopeFacts, record: RecordFields): void {
  if (hasUser(facts) && (!record.hasAny(USER_NAMES) || isSameUser(facts, record.user()))) {
    if (facts.user !== undefined && !record.has('user')) added.user = facts.user
    if (facts.user_id !== undefined && !record.hasAny(['user_id', 'userId'])) added.user_id = facts.user_id
  }
  if (facts.session_id !== undefined && !record.hasAny(['session_id', 'sessionId'])) added.session_id = facts.session_id
  const { request_id: requestId } = facts // a getter in `requestScope()`
  if (requestId !== undefined && !record.hasAny(['request_id', 'requestId'])) added.request_id = requestId
  if (facts.tags !== undefined && !record.has('tags')) added.tags = facts.tags
}

/** The ids of the active span; `undefined` if none is active, its ids are invalid (OpenTelemetry, Trace API: IsValid), or the app's SDK throws. */
function findActiveSpanIds(): ScopeTrace | undefined {
  const context = (globalThis as { [API]?: Registered })[API]?.context
  if (context === undefined) return undefined
  try {
    const { traceId, spanId } = context.active().getValue(SPAN)?.spanContext() ?? {}
    if (typeof traceId !== 'string' || typeof spanId !== 'string' || !TRACE_ID.test(traceId) || !SPAN_ID.test(spanId))
      return undefined
    return { trace_id: traceId, span_id: spanId }
  } catch {
    return undefined // a log call must not fail because of tracing
  }
}

/** The fields that the logger adds to each record. */
function readBoundFields(logger: object): Bound['fields'] {
  const text = readPinoProperty(logger, 'pino.chindings')
  if (typeof text !== 'string') return NO_FIELDS
  const last = bindings.get(logger)
  if (last?.text === text) return last.fields // `setBindings()` changes the text
  const fields = parseBindings(text)
  bindings.set(logger, { text, fields })
  return fields
}

/** Parses pino's stored text, `,"pid":1,"hostname":"a"`. With the application's own stringifiers it may not be JSON. */
function parseBindings(text: string): Bound['fields'] {
  try {
    return new Map(Object.entries(JSON.parse(`{${text.slice(1)}}`) as object))
  } catch {
    return NO_FIELDS
  }
}

/** The fields that a record already has: from the call, the app's mixin, and the bindings of its logger. */
class RecordFields {
  readonly #call: Fields
  readonly #mixin: Fields
  readonly logger: object
  #bound: Bound['fields'] | undefined

  constructor(call: object, mixin: object, logger: object) {
    this.#call = call as Fields
    this.#mixin = mixin as Fields
    this.logger = logger
  }

  has(name: string): boolean {
    if (Object.hasOwn(this.#call, name) || Object.hasOwn(this.#mixin, name)) return true
    return this.bound.has(name)
  }

  get bound(): Bound['fields'] {
    return (this.#bound ??= readBoundFields(this.logger))
  }

  hasAny(names: readonly string[]): boolean {
    for (const name of names) if (this.has(name)) return true
    return false
  }

  error(): unknown {
    return this.value(readErrorKey(this.logger)) ?? this.value('err') ?? undefined
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#call, name) ? this.#call[name] : undefined
  }

  /** The user of the call itself. A user in the bindings is already serialized, so it is treated as a different user. */
  user(): ScopeFacts {
    const id = parseId(
      this.value('user_id') ?? this.value('userId') ?? (this.value('user') as { id?: unknown } | null | undefined)?.id,
    )
    return id === undefined ? {} : { user_id: id }
  }
}
