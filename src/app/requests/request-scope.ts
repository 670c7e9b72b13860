/** [main] One middleware for Express, Fastify, Koa, Hono and Nest: a scope for each request. */
import { randomUUID } from 'node:crypto'
import { captureError } from '../errors/capture-error.js'
import type { ErrorLogger } from '../errors/capture-error.js'
import { findAppState, findResponseScope, findScope, setResponseScope } from '../scope/app-state.js'
import type { Scope, ScopeFacts, ScopeRequest, ScopeTrace } from '../scope/app-state.js'
import { parseId, parseScopeFacts } from '../scope/scope-context.js'
import { setResponseError } from './response-error.js'
import type { LoggedResponse } from './response-error.js'

/** The used part of a request of Node and of Express. */
export interface ScopedRequest {
  /** HTTP method. */
  readonly method?: string | undefined
  /** Path and query. */
  readonly url?: string | undefined
  /** Headers, with names in lower case. */
  readonly headers?: { readonly [name: string]: string | string[] | undefined }
}

/** The used part of Koa's and Hono's context. */
export interface ScopedContext {
  /** Node's request (Koa), or Hono's. */
  readonly req: object
  /** Node's response (Koa), or that of the Fetch API (Hono). */
  readonly res: object
}

/** The used part of a Fastify instance. */
export interface ScopedInstance {
  /** Adds a hook to the instance. */
  addHook(...hook: never[]): unknown
}

/** What `requestScope()` returns. */
export interface RequestScope {
  /** As a middleware of Koa and Hono. */
  (context: ScopedContext, next: () => Promise<unknown>): Promise<void>
  /** As a plugin of Fastify. */
  (instance: ScopedInstance, options: object, done: (error?: Error) => void): void
  /** As a middleware of Express and Nest. */
  (request: ScopedRequest, response: object, next: (error?: unknown) => void): void
}

/** The members that the frameworks add to Node's request, each its own. */
interface NodeRequest extends ScopedRequest {
  emit?(...event: unknown[]): boolean
  readonly id?: unknown
  readonly originalUrl?: unknown
}

interface HonoContext {
  readonly req: { readonly method: string; readonly path: string; header(name: string): string | undefined }
  readonly res: { readonly status: number }
  readonly error?: unknown
  readonly var: { readonly requestId?: unknown; readonly logger?: HonoLogger | undefined }
}

/** hono-pino's. */
interface HonoLogger extends ErrorLogger {
  setResLevel?(level: 'warn'): unknown
}

type FastifyHook = (
  request: { readonly raw: NodeRequest; readonly id: unknown },
  reply: { readonly raw: object },
  done: () => void,
) => void

const SERVER_ERROR = 500
/** As fastify-plugin sets it: the hooks apply to the instance that registers the plugin. */
const FASTIFY_PLUGIN = {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'pino-ingest',
  [Symbol.for('plugin-meta')]: { name: 'pino-ingest', fastify: '>=4' },
}

/** With a trace, if the request has one. Reads the id for each record, since pino-http and Hono's `requestId()` set it later. */
class RequestFacts implements ScopeFacts {
  readonly trace?: ScopeTrace
  readonly #request: { readonly id?: unknown }
  #ownId: string | undefined

  constructor(request: { readonly id?: unknown }, traceparent: unknown) {
    this.#request = request
    if (traceparent !== undefined) Object.assign(this, parseScopeFacts({ trace: traceparent as string }))
  }

  get request_id(): string {
    return parseId(this.#request.id) ?? (this.#ownId ??= randomUUID())
  }
}

/**
 * Opens a scope for each request, as `withScope()` does, with the request's id and the trace of its `traceparent` header:
 *
 * - Express and Nest: `app.use(requestScope())`, before pino-http,
 * - Koa: `app.use(requestScope())`, before koa-pino-logger,
 * - Hono: `app.use(requestScope())`, after hono-pino,
 * - Fastify: `app.register(requestScope())`.
 *
 * In the request, with a logger made with `ingestOptions()`, each error that is logged at level error or fatal gets the request's
 * method and URL and an `event_id`, which `captureError()` returns. An error is logged at level error once: for an error that it has logged
 * already, pino-http (with `ingestOptions({ logger })`) and hono-pino log the end of the request at level warn, and `captureError()` only returns
 * the id. In Hono, errors with a status of 500 or more are logged with hono-pino's logger.
 *
 * It never throws by itself, and errors of the application reach the framework's own error handling.
 *
 * @example
 * app.use(requestScope(), pinoHttp(ingestOptions({ logger })))
 */
export function requestScope(): RequestScope {
  const handle = (first: object, second: unknown, third?: () => void): unknown => {
    if (third === undefined) return runInContext(first as ScopedContext, second as () => Promise<unknown>)
    if ('addHook' in first) {
      addHooks(first as ScopedInstance)
      return third()
    }
    return findAppState().scopes.run(openResponseScope(first as NodeRequest, second as object), third)
  }
  return Object.assign(handle as RequestScope, FASTIFY_PLUGIN)
}

/** The scope of the response, which is created if there is none. */
function openResponseScope(request: NodeRequest, response: object, id?: unknown): Scope {
  let scope = findResponseScope(response)
  if (scope === undefined) {
    const { method, headers } = request
    scope = createScope(method, findUrl(request), headers?.['traceparent'], id === undefined ? request : { id })
    if (Object.isExtensible(response)) setResponseScope(response, scope)
    bindEvents(request, scope)
  }
  return scope
}

/** As `openResponseScope()`. In an application with its own `withScope()` only, the scope has the facts and breadcrumbs of the current one. */
export function openErrorScope(request: NodeRequest, response: object): Scope {
  const current = findScope()
  if (current === undefined || findResponseScope(response) !== undefined) return openResponseScope(request, response)
  const { facts, history } = current
  const own = createScopeRequest(request.method, findUrl(request))
  const scope = history.request === undefined ? { facts, history: { ...history, request: own } } : current
  if (Object.isExtensible(response)) setResponseScope(response, scope)
  return scope
}

function findUrl({ url, originalUrl }: NodeRequest): string | undefined {
  return typeof originalUrl === 'string' ? originalUrl : url
}

/** Runs the request's event listeners in its scope. Node would call them in the context of the connection. */
function bindEvents(request: NodeRequest, scope: Scope): void {
  const { emit } = request
  if (emit === undefined || !Object.isExtensible(request)) return
  const { scopes } = findAppState()
  request.emit = (...event) => scopes.run(scope, () => Reflect.apply(emit, request, event) as boolean)
}

function createScope(
  method: string | undefined,
  url: string | undefined,
  traceparent: unknown,
  request: { readonly id?: unknown },
): Scope {
  const history = { breadcrumbs: [], request: createScopeRequest(method, url) }
  return { facts: new RequestFacts(request, traceparent), history }
}

function createScopeRequest(method: string | undefined, url: string | undefined): ScopeRequest {
  return { method, url, errors: new Map() }
}

function addHooks(instance: ScopedInstance): void {
  const hook: FastifyHook = ({ raw, id }, reply, done) =>
    findAppState().scopes.run(openResponseScope(raw, reply.raw, id), done)
  const { addHook } = instance as { addHook(name: string, hook: FastifyHook): unknown }
  Reflect.apply(addHook, instance, ['onRequest', hook])
}

async function runInContext(context: ScopedContext, next: () => Promise<unknown>): Promise<void> {
  const { scopes } = findAppState()
  if ('header' in context.req) {
    const hono = context as HonoContext
    const { req } = hono
    const id = {
      get id() {
        return hono.var.requestId
      },
    }
    const scope = createScope(req.method, req.path, req.header('traceparent'), id)
    return scopes.run(scope, async () => {
      await next()
      captureHono(hono)
    })
  }
  const { req, res } = context as { readonly req: NodeRequest; readonly res: LoggedResponse }
  const scope = openResponseScope(req, res)
  try {
    await scopes.run(scope, next)
  } catch (error) {
    if ((res.err ?? error) === error) setResponseError(res, error, scope.history)
    throw error
  }
}

/** Hono passes errors to `onError`, not to a middleware. */
function captureHono({ error, res, var: { logger } }: HonoContext): void {
  if (error === undefined || typeof logger?.error !== 'function') return
  if (res.status >= SERVER_ERROR) captureError(logger, error)
  logger.setResLevel?.('warn')
}
