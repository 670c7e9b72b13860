/** [main] Parses the context of a scope into the entry's fields. Pure. */
import { parseTraceparent } from '../../record/reference/trace-header.js'
import { limitText } from './bounded-copy.js'
import type { ScopeFacts, ScopeTrace, ScopeUser } from './app-state.js'

type Id = string | number

/** All fields are optional. Names in camel case work too. */
export interface ScopeContext {
  /** Only `id`, `email` and `name` are used: a database object contains more than a log should. */
  readonly user?:
    | {
        /** Id of the user. */
        readonly id?: Id | undefined
        /** The user's e-mail address. */
        readonly email?: string | undefined
        /** The user's name. */
        readonly name?: string | undefined
      }
    | null
    | undefined
  /** Id of the user. Wins over `userId`. */
  readonly user_id?: Id | undefined
  /** As `user_id`. */
  readonly userId?: Id | undefined
  /** Id of the session. Wins over `sessionId`. */
  readonly session_id?: Id | undefined
  /** As `session_id`. */
  readonly sessionId?: Id | undefined
  /** Id of the request. Wins over `requestId`. */
  readonly request_id?: Id | undefined
  /** As `request_id`. */
  readonly requestId?: Id | undefined
  /** Added to those of the outer scope. */
  readonly tags?: readonly string[] | undefined
  /** Ids, or the text of a `traceparent` header (W3C Trace Context, section 3.2). */
  readonly trace?: ScopeTraceInput | string | undefined
  /** Text of the header, as in Node's `request.headers.traceparent`. */
  readonly traceparent?: string | undefined
  /** Added to each record, like a child logger's bindings. They are serialized with each record, so keep them small. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined
}

/** Ids of a trace. Names in camel case work too. */
export interface ScopeTraceInput {
  /** Id of the trace. */
  readonly trace_id?: string | undefined
  /** As `trace_id`. */
  readonly traceId?: string | undefined
  /** Id of the span. */
  readonly span_id?: string | undefined
  /** As `span_id`. */
  readonly spanId?: string | undefined
  /** Id of the parent span. */
  readonly parent_span_id?: string | undefined
  /** As `parent_span_id`. */
  readonly parentSpanId?: string | undefined
}

/** Never throws: a field that cannot be read is ignored. */
export function parseScopeFacts(context: ScopeContext): ScopeFacts {
  try {
    return readFacts(context)
  } catch {
    return {} // an error of the app's getter must not fail the application
  }
}

function readFacts(context: ScopeContext): ScopeFacts {
  const facts: { -readonly [Key in keyof ScopeFacts]: ScopeFacts[Key] } = {}
  const user = parseUser(context.user)
  if (user !== undefined) facts.user = user
  const userId = parseId(context.user_id ?? context.userId)
  if (userId !== undefined) facts.user_id = userId
  const sessionId = parseId(context.session_id ?? context.sessionId)
  if (sessionId !== undefined) facts.session_id = sessionId
  const requestId = parseId(context.request_id ?? context.requestId)
  if (requestId !== undefined) facts.request_id = requestId
  if (context.tags !== undefined) facts.tags = [context.tags].flat().flatMap((tag) => parseId(tag) ?? [])
  const trace = parseTrace(context.trace) ?? parseTrace(context.traceparent)
  if (trace !== undefined) facts.trace = trace
  if (typeof context.fields === 'object' && context.fields !== null) facts.fields = { ...context.fields }
  return facts
}

function parseUser(given: unknown): ScopeUser | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const source = given as Record<string, unknown>
  const [id, email, name] = [parseId(source['id']), parseId(source['email']), parseId(source['name'])]
  if (id === undefined && email === undefined && name === undefined) return undefined
  return { ...(id !== undefined && { id }), ...(email !== undefined && { email }), ...(name !== undefined && { name }) }
}

export function parseId(given: unknown): string | undefined {
  if (typeof given === 'number' || typeof given === 'bigint') return String(given)
  return typeof given === 'string' && given !== '' ? limitText(given) : undefined
}

function parseTrace(given: unknown): ScopeTrace | undefined {
  if (typeof given === 'string') return parseTraceparent(given.trim())
  if (typeof given !== 'object' || given === null) return undefined
  const source = given as ScopeTraceInput
  const [traceId, spanId, parentId] = [
    parseId(source.trace_id ?? source.traceId),
    parseId(source.span_id ?? source.spanId),
    parseId(source.parent_span_id ?? source.parentSpanId),
  ]
  if (traceId === undefined && spanId === undefined && parentId === undefined) return undefined
  return {
    ...(traceId !== undefined && { trace_id: traceId }),
    ...(spanId !== undefined && { span_id: spanId }),
    ...(parentId !== undefined && { parent_span_id: parentId }),
  }
}
