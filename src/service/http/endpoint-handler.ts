/** Handles a request to the service interface from its head to its reply, and applies scripted faults. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { API_KEY_HEADER, MONITOR_NAME_HEADER } from '../../protocol/limits.js'
import { systemClock } from '../../shared/clock.js'
import { pause } from '../../shared/pause.js'
import type { Fault } from '../ingest/fault.js'
import type { Rejector, Faults } from '../ingest/faults.js'
import { countItems, findBatchId } from '../ingest/ingester.js'
import type { Ingester } from '../ingest/ingester.js'
import { decodeBody } from './body-reader.js'
import type { BodyReader, ReadResult } from './body-reader.js'
import { parseEndpointPath } from '../endpoints.js'
import type { EndpointTarget } from '../endpoints.js'
import type { OpenRequest, RequestRecorder } from './request-recorder.js'
import { resetConnection, sendReply, sendSlowly } from './response-writer.js'
import { createFailure, createTooManyRequests, createWrongMethod, notFound, unauthorized } from '../service-reply.js'
import type { Reply } from '../service-reply.js'

/** 100 characters, percent-encoded. */
const MAX_NAME_BYTES = 1_200

export interface EndpointDependencies {
  readonly ingester: Ingester
  readonly faults: Faults
  readonly recorder: RequestRecorder
  readonly bodies: BodyReader
  /** Valid keys; if undefined, every non-empty key is valid. */
  readonly apiKeys: readonly string[] | undefined
  readonly rateLimit: (() => number) | undefined
  /** Delay before every reply in milliseconds. */
  readonly latencyMs: number
  /** Aborted when the service closes. */
  readonly signal: AbortSignal
}

/** `path` begins with the base path. */
export async function handleEndpointRequest(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  dependencies: EndpointDependencies,
): Promise<void> {
  const { recorder, faults, bodies, latencyMs, signal } = dependencies
  const target = parseEndpointPath(path)
  const hasKey = request.headers[API_KEY_HEADER.toLowerCase()] !== undefined
  const record = recorder.begin(target?.endpoint ?? 'unknown', request.method ?? '', hasKey)
  response.once('close', () => recorder.end(record))
  const send = (reply: Reply): void => {
    record.status = reply.status
    sendReply(request, response, reply)
  }
  if (target === undefined) return send(notFound)
  if (request.method !== 'POST') return send(createWrongMethod('POST'))

  const active = faults.take(target.endpoint)
  const fault = active?.fault
  record.fault = fault?.kind ?? null
  if (fault?.kind === 'reset' && fault.when === 'before-body') return resetConnection(request)
  const isResetInBody = fault?.kind === 'reset' && fault.when === 'mid-body'
  const body = await bodies.read(request, response, () => !isResetInBody)
  if (isResetInBody) return resetConnection(request)
  if (body.kind === 'gone') return
  const answer = prepareAnswer(request, target, body, record, dependencies)
  const waitMs = latencyMs + (fault?.delayMs ?? 0)
  // Like a real service, handles a delayed request even after its client has disconnected.
  if (waitMs > 0) await pause(systemClock, waitMs, signal)
  if (signal.aborted) return
  await applyFault(fault, { request, response, record, signal, send, answer: () => answer(active?.rejector) })
}

/**
 * Records the request, even if a fault prevents its handling.
 * @returns the endpoint's reply. The key is checked before the content, as in a framework's middleware.
 */
function prepareAnswer(
  request: IncomingMessage,
  target: EndpointTarget,
  body: Exclude<ReadResult, { kind: 'gone' }>,
  record: OpenRequest,
  { ingester, apiKeys, rateLimit }: EndpointDependencies,
): (rejector: Rejector | undefined) => Reply {
  if (body.kind === 'refused') return () => body.reply
  const { bytes } = body
  record.bytes = bytes.length
  if (target.endpoint === 'heartbeat') {
    const name = parseMonitorName(request.headers[MONITOR_NAME_HEADER.toLowerCase()])
    return () => ingester.heartbeat(target.token, name)
  }

  const { endpoint } = target
  const decoded = decodeBody(request, bytes)
  if ('json' in decoded) {
    record.batchId = findBatchId(decoded.json)
    record.entries = countItems(decoded.json)
  }
  const key = request.headers[API_KEY_HEADER.toLowerCase()]
  return (rejector) => {
    if (typeof key !== 'string' || key === '' || apiKeys?.includes(key) === false) return unauthorized
    const retryAfterSeconds = rateLimit?.() ?? 0
    if (retryAfterSeconds > 0) return createTooManyRequests(retryAfterSeconds)
    if ('reply' in decoded) return decoded.reply
    const reply = ingester[endpoint](decoded.json, bytes.length, rejector)
    record.accepted = (reply.body as { accepted?: number }).accepted ?? 0
    return reply
  }
}

/** Returns null for an empty, malformed or too long name: a ping counts in any case. */
function parseMonitorName(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string' || header === '' || header.length > MAX_NAME_BYTES) return null
  try {
    return decodeURIComponent(header)
  } catch {
    return null
  }
}

interface FaultContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly record: OpenRequest
  readonly signal: AbortSignal
  readonly send: (reply: Reply) => void
  /** Handles the request as if there were no fault, and stores its content. */
  readonly answer: () => Reply
}

async function applyFault(fault: Fault | undefined, context: FaultContext): Promise<void> {
  const { request, response, record, signal, send, answer } = context
  switch (fault?.kind) {
    case undefined:
    case 'delay':
    case 'reject-every':
    case 'reject-containing':
      return send(answer())
    case 'status':
      return send(createStatusReply(fault))
    case 'redirect':
      return send(createFailure(fault.status ?? 307, 'moved', 'fault', { location: fault.location }))
    case 'hang':
      return
    case 'drop-reply':
      answer()
      return resetConnection(request)
    case 'slow': {
      const reply = answer()
      record.status = reply.status
      return sendSlowly(response, reply, fault.bytesPerSecond, signal)
    }
    case 'reset': {
      // `before-body` and `mid-body` were applied while the request was read.
      const reply = answer()
      record.status = reply.status
      return resetConnection(request, response, reply)
    }
  }
}

function createStatusReply({ status, body, retryAfter }: Extract<Fault, { kind: 'status' }>): Reply {
  const reply = { status, body: body === undefined ? { detail: [{ msg: 'scripted fault', type: 'fault' }] } : body }
  return retryAfter === undefined ? reply : { ...reply, headers: { 'retry-after': String(retryAfter) } }
}

/** A limit for all endpoints that require a key. */
export interface RateLimitOptions {
  /** Requests in one window. */
  readonly requests: number
  /** Length of a window in milliseconds. */
  readonly windowMs: number
}

/** @returns function that counts a request: 0 if it is within the limit, else the seconds until the next window, not rounded */
export function createRateLimit({ requests, windowMs }: RateLimitOptions, now: () => number): () => number {
  let [startMs, taken] = [-Infinity, 0]
  return () => {
    if (now() - startMs >= windowMs) [startMs, taken] = [now(), 0]
    taken++
    return taken <= requests ? 0 : (startMs + windowMs - now()) / 1000
  }
}
