/** [main] Scopes: fields that are set once, for example for a request, are added to all records logged in the scope. */
import { checkArgument, isFunction } from '../../shared/argument-checks.js'
import { parseScopeFacts } from './scope-context.js'
import type { ScopeContext } from './scope-context.js'
import { findAppState, findScope, createHistory } from './app-state.js'
import type { Scope, ScopeFacts } from './app-state.js'

/**
 * Runs `fn` in a scope: records that are logged within, also after `await`, contain the context (through `ingestMixin()` or
 * `ingestOptions()`), and `addBreadcrumb()` adds its breadcrumbs to it.
 *
 * Scopes nest: the inner one inherits from the outer one and adds to it. An inner scope with another request, trace
 * or session has its own breadcrumbs; one that only adds to the same request shares them, so that an error logged at the
 * end of the request has them all. Within `requestScope()`, a `request_id` replaces the id of the same request.
 *
 * @returns what `fn` returns; errors of `fn` pass through. A context that cannot be read counts as empty.
 * @throws IngestError `CONFIG` if `fn` is not a function.
 * @example
 * await withScope({ user: { id: '7' }, tags: ['import'] }, async () => {
 *   logger.info('with the user and the tag')
 * })
 */
export function withScope<T>(context: ScopeContext, fn: () => T): T {
  checkArgument('fn of withScope()', 'a function', isFunction(fn), fn)
  return findAppState().scopes.run(createScope(findScope(), parseScopeFacts(context)), fn)
}

function createScope(outer: Scope | undefined, own: ScopeFacts): Scope {
  if (outer === undefined) return { facts: own, history: createHistory() }
  const { request_id: requestId } = outer.facts // a getter, which is not copied
  const facts = { ...outer.facts, ...(requestId !== undefined && { request_id: requestId }), ...own }
  if (hasUser(own) && !isSameUser(own, outer.facts)) {
    if (own.user === undefined) delete facts.user
    if (own.user_id === undefined) delete facts.user_id
  }
  if (own.tags !== undefined && outer.facts.tags !== undefined)
    facts.tags = [...new Set([...outer.facts.tags, ...own.tags])]
  if (own.fields !== undefined) facts.fields = { ...outer.facts.fields, ...own.fields }
  return { facts, history: isOtherWork(facts, outer) ? createHistory() : outer.history }
}

export function hasUser({ user, user_id: id }: ScopeFacts): boolean {
  return user !== undefined || id !== undefined
}

/** Whether both users have the same id. */
export function isSameUser(one: ScopeFacts, other: ScopeFacts): boolean {
  const id = one.user_id ?? one.user?.id
  return id !== undefined && id === (other.user_id ?? other.user?.id)
}

/**
 * Whether the inner scope belongs to another request, trace or session. Adding a session id to the same request or
 * trace does not count, nor does another id for the request of `requestScope()`.
 */
function isOtherWork(inner: ScopeFacts, { facts: outer, history }: Scope): boolean {
  const isRequest = outer.request_id !== undefined || outer.trace?.trace_id !== undefined
  return [
    ...(history.request === undefined ? [[inner.request_id, outer.request_id]] : []),
    [inner.trace?.trace_id, outer.trace?.trace_id],
    [inner.session_id, outer.session_id],
  ].some(([ownId, outerId]) => ownId !== outerId && (outerId !== undefined || !isRequest))
}
