/** [main] State that both builds of this package share: scopes, their breadcrumbs, and the errors of a request. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Breadcrumb } from '../../protocol/log-entry.js'

export interface ScopeUser {
  readonly id?: string
  readonly email?: string
  readonly name?: string
}

export interface ScopeTrace {
  readonly trace_id?: string
  readonly span_id?: string
  readonly parent_span_id?: string
}

/** Fields of a scope, under the entry's names. */
export interface ScopeFacts {
  readonly user?: ScopeUser
  readonly user_id?: string
  readonly session_id?: string
  readonly request_id?: string
  readonly tags?: readonly string[]
  readonly trace?: ScopeTrace
  /** Added to each record unchanged, like a child logger's bindings. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** An error that was thrown in a request, and the `event_id` of its entry. */
export interface RequestError {
  readonly eventId: string
  /** Whether a record has the id. */
  isReferenced: boolean
  /** Whether it was logged at level error. */
  isLogged: boolean
}

/** The request of a scope that `requestScope()` opened. */
export interface ScopeRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  /** By the thrown value. */
  readonly errors: Map<unknown, RequestError>
}

/** Shared by the scopes of one request. */
export interface ScopeHistory {
  readonly breadcrumbs: Breadcrumb[]
  readonly request?: ScopeRequest
}

export interface Scope {
  readonly facts: ScopeFacts
  readonly history: ScopeHistory
}

interface AppState {
  readonly scopes: AsyncLocalStorage<Scope>
  /** Used outside any scope. */
  readonly processHistory: ScopeHistory
  /** Stops the breadcrumbs of outgoing HTTP; undefined while they are off. */
  stopHttp: (() => void) | undefined
  /** Number of active calls of `httpBreadcrumbs()`. */
  httpUsers: number
}

/** Key of the scope on Node's response, whose events may be emitted in another scope. A WeakMap would add 4 us to a request. */
const RESPONSE_SCOPE = Symbol.for('pino-ingest.scope')
const STATE = Symbol.for('pino-ingest.app')

export function createHistory(): ScopeHistory {
  return { breadcrumbs: [] }
}

export function findAppState(): AppState {
  return ((globalThis as { [STATE]?: AppState })[STATE] ??= {
    scopes: new AsyncLocalStorage<Scope>(),
    processHistory: createHistory(),
    stopHttp: undefined,
    httpUsers: 0,
  })
}

export function findScope(): Scope | undefined {
  return findAppState().scopes.getStore()
}

/** The scope that `requestScope()` opened for a response of Node. */
export function findResponseScope(response: object): Scope | undefined {
  return (response as { [RESPONSE_SCOPE]?: Scope })[RESPONSE_SCOPE]
}

export function setResponseScope(response: object, scope: Scope): void {
  Object.defineProperty(response, RESPONSE_SCOPE, { value: scope })
}

/** The history of the current scope, or of the process outside any scope. */
export function findHistory(): ScopeHistory {
  const { scopes, processHistory: outside } = findAppState()
  return scopes.getStore()?.history ?? outside
}

/** Maximum number of errors kept per request; the oldest is removed. A request can last as long as its connection. */
const MAX_ERRORS = 16

/**
 * Returns the record of the error with its id, which is created if there is none. Undefined outside `requestScope()`.
 *
 * @param given the id of the record that logs the error
 */
export function findOrCreateRequestError(
  history: ScopeHistory,
  error: unknown,
  given?: string,
): RequestError | undefined {
  const errors = history.request?.errors
  if (errors === undefined) return undefined
  let known = errors.get(error)
  if (known === undefined || (given !== undefined && given !== known.eventId)) {
    for (const oldest of errors.keys()) if (errors.size >= MAX_ERRORS) errors.delete(oldest)
    known = { eventId: given ?? randomUUID(), isReferenced: false, isLogged: false }
    errors.set(error, known)
  }
  return known
}
