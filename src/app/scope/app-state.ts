/** [main] State that both builds of this package share: scopes, their breadcrumbs, the newest event id. */
import { AsyncLocalStorage } from 'node:async_hooks'
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

/** Shared by the scopes of one request. */
export interface ScopeHistory {
  readonly breadcrumbs: Breadcrumb[]
  eventId: string | undefined
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

const STATE = Symbol.for('pino-ingest.app')

export function createHistory(): ScopeHistory {
  return { breadcrumbs: [], eventId: undefined }
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

/** The history of the current scope, or of the process outside any scope. */
export function findHistory(): ScopeHistory {
  const { scopes, processHistory: outside } = findAppState()
  return scopes.getStore()?.history ?? outside
}
