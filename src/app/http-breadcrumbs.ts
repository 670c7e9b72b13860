/** [main] Crumbs for the requests that the application sends: heard on Node's diagnostics channels, nothing is wrapped. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { systemClock } from '../shared/clock.js'
import { keepCrumb } from './breadcrumbs.js'
import { crumbOf, isLeftOut, nodeUrl, undiciUrl } from './http-crumb.js'
import type { Outcome, UndiciRequest } from './http-crumb.js'
import { appState, currentTrail } from './state.js'
import type { Trail } from './state.js'

type AnyRequest = UndiciRequest | ClientRequest

/** Since its reply comes in another context, the request remembers where it was made. */
interface Started {
  readonly trail: Trail
  readonly atMs: number
}

/**
 * From now on each request that the app sends, by `fetch`, undici or `node:http`, leaves a crumb in the scope in which it was made:
 * method, URL without query and userinfo, status, duration. Redirects are requests of their own. This package's own are left
 * out. Calls add up: the crumbs end when each was undone.
 *
 * @returns a function that undoes it
 */
export function httpBreadcrumbs(): () => void {
  const state = appState()
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
  const started = new WeakMap<object, Started>()
  const start = (request: AnyRequest): void => {
    if (!started.has(request)) started.set(request, { trail: currentTrail(), atMs: systemClock.now() })
  }
  const finish = (request: AnyRequest, place: () => string | undefined, outcome: Outcome): void => {
    if (outcome.status !== undefined && outcome.status < 200) return // informational: the reply itself is still to come
    const from = started.get(request)
    started.delete(request) // an error after the reply's head belongs to who reads the body
    const url = from === undefined ? undefined : place()
    if (from === undefined || url === undefined) return
    keepCrumb(from.trail, crumbOf(String(request.method ?? 'GET'), url, outcome, systemClock.now() - from.atMs))
  }
  const listeners: Readonly<Record<string, (message: Heard) => void>> = {
    'undici:request:create': ({ request }) => {
      if (!isLeftOut(request as UndiciRequest)) start(request)
    },
    'undici:request:headers': ({ request, response }) =>
      finish(request, () => undiciUrl(request as UndiciRequest), { status: response?.statusCode }),
    'undici:request:error': ({ request, error }) => finish(request, () => undiciUrl(request as UndiciRequest), { error }),
    // The first comes with the call, from Node 22 on; the other when the request is written.
    'http.client.request.created': ({ request }) => start(request),
    'http.client.request.start': ({ request }) => start(request),
    'http.client.response.finish': ({ request, response }) =>
      finish(request, () => nodeUrl(request as ClientRequest), { status: response?.statusCode }),
    'http.client.request.error': ({ request, error }) => finish(request, () => nodeUrl(request as ClientRequest), { error }),
  }
  const heard = Object.entries(listeners).map(([channel, listener]) => [channel, guarded(listener)] as const)
  for (const [channel, listener] of heard) subscribe(channel, listener)
  return () => {
    for (const [channel, listener] of heard) unsubscribe(channel, listener)
  }
}

interface Heard {
  readonly request: AnyRequest
  readonly response?: Pick<IncomingMessage, 'statusCode'>
  readonly error?: unknown
}

/** What a listener throws, Node makes an uncaught exception: rather no crumb, should a runtime show other objects. */
function guarded(listener: (message: Heard) => void): (message: unknown) => void {
  return (message) => {
    try {
      listener(message as Heard)
    } catch {
      // told above
    }
  }
}
