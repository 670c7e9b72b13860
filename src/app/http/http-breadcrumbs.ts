/** [main] Breadcrumbs for the requests that the application sends, from Node's diagnostics channels. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { systemClock } from '../../shared/clock.js'
import { keepBreadcrumb } from '../scope/scope-breadcrumbs.js'
import { toRequestBreadcrumb, isIgnored, toNodeUrl, toUndiciUrl } from './request-breadcrumb.js'
import type { RequestOutcome, UndiciRequest } from './request-breadcrumb.js'
import { findAppState, findHistory } from '../scope/app-state.js'
import type { ScopeHistory } from '../scope/app-state.js'

type AnyRequest = UndiciRequest | ClientRequest

/** A request with its scope, since the reply arrives in another context. */
interface StartedRequest {
  readonly trail: ScopeHistory
  readonly atMs: number
}

/**
 * Adds a breadcrumb for each request that the app sends by `fetch`, undici or `node:http`, in the scope of the request:
 * method, URL without query and userinfo, status, duration. Redirects are requests of their own. Requests of this package
 * are ignored. Calls are counted: breadcrumbs stop when every call was undone.
 *
 * @returns a function that removes the listeners
 */
export function httpBreadcrumbs(): () => void {
  const state = findAppState()
  state.httpUsers += 1
  state.stopHttp ??= listen()
  let isUndone = false
  return () => {
    if (isUndone) return
    isUndone = true
    state.httpUsers -= 1
    if (state.httpUsers > 0) return
    state.stopHttp?.()
    state.stopHttp = undefined
  }
}

function listen(): () => void {
  const started = new WeakMap<object, StartedRequest>()
  const start = (request: AnyRequest): void => {
    if (!started.has(request)) started.set(request, { trail: findHistory(), atMs: systemClock.now() })
  }
  const finish = (request: AnyRequest, place: () => string | undefined, outcome: RequestOutcome): void => {
    if (outcome.status !== undefined && outcome.status < 200) return // informational: the final reply follows
    const from = started.get(request)
    started.delete(request) // a later error is one of reading the body
    const url = from === undefined ? undefined : place()
    if (from === undefined || url === undefined) return
    keepBreadcrumb(
      from.trail,
      toRequestBreadcrumb(String(request.method ?? 'GET'), url, outcome, systemClock.now() - from.atMs),
    )
  }
  const listeners: Readonly<Record<string, (message: ChannelMessage) => void>> = {
    'undici:request:create': ({ request }) => {
      if (!isIgnored(request as UndiciRequest)) start(request)
    },
    'undici:request:headers': ({ request, response }) =>
      finish(request, () => toUndiciUrl(request as UndiciRequest), { status: response?.statusCode }),
    'undici:request:error': ({ request, error }) =>
      finish(request, () => toUndiciUrl(request as UndiciRequest), { error }),
    // Node 22 and later emit `created` in the call; all versions emit `start` when the request is written.
    'http.client.request.created': ({ request }) => start(request),
    'http.client.request.start': ({ request }) => start(request),
    'http.client.response.finish': ({ request, response }) =>
      finish(request, () => toNodeUrl(request as ClientRequest), { status: response?.statusCode }),
    'http.client.request.error': ({ request, error }) =>
      finish(request, () => toNodeUrl(request as ClientRequest), { error }),
  }
  const heard = Object.entries(listeners).map(([channel, listener]) => [channel, guarded(listener)] as const)
  for (const [channel, listener] of heard) subscribe(channel, listener)
  return () => {
    for (const [channel, listener] of heard) unsubscribe(channel, listener)
  }
}

interface ChannelMessage {
  readonly request: AnyRequest
  readonly response?: Pick<IncomingMessage, 'statusCode'>
  readonly error?: unknown
}

/**
 * Catches errors of a listener, which Node would turn into an uncaught exception. Other runtimes may pass different
 * objects; these get no breadcrumb.
 */
function guarded(listener: (message: ChannelMessage) => void): (message: unknown) => void {
  return (message) => {
    try {
      listener(message as ChannelMessage)
    } catch {
      // see above
    }
  }
}
