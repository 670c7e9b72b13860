/** One request to the interface, from its head to its reply, with the scripted fault that applies to it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { API_KEY_HEADER } from '../../protocol/limits.js'
import type { BodyReader, ReadResult } from './body-reader.js'
import type { RequestRecorder, OpenRequest } from './request-recorder.js'
import { parseEndpointPath } from './endpoints.js'
import type { EndpointTarget } from './endpoints.js'
import type { Fault } from '../ingest/fault.js'
import type { Faults, Rejector } from '../ingest/faults.js'
import { batchIdOf, countItems } from '../ingest/ingester.js'
import type { Ingester } from '../ingest/ingester.js'
import type { ApiKeys } from './api-keys.js'
import type { RateLimit } from './rate-limit.js'
import { createFailure, notFound, createTooManyRequests, unauthorized, createWrongMethod } from './service-reply.js'
import type { Reply } from './service-reply.js'
import { resetConnection, sendReply, sleep, sendSlowly } from './response-writer.js'

export interface EndpointDependencies {
  readonly intake: Ingester
  readonly faults: Faults
  readonly calls: RequestRecorder
  readonly bodies: BodyReader
  readonly keys: ApiKeys
  readonly rateLimit: RateLimit | undefined
  /** Milliseconds before every reply. */
  readonly latencyMs: number
  /** Aborted when the service closes. */
  readonly signal: AbortSignal
}

/** `path` begins with the base path. */
export async function handleEndpointRequest(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  parts: EndpointDependencies,
): Promise<void> {
  const { calls, faults, bodies } = parts
  const target = parseEndpointPath(path)
  const key = request.headers[API_KEY_HEADER.toLowerCase()]
  const call = calls.begin(target?.endpoint ?? 'unknown', request.method ?? '', key !== undefined)
  response.once('close', () => calls.end(call))
  if (target === undefined) return send(request, response, call, notFound)
  if (request.method !== 'POST') return send(request, response, call, createWrongMethod('POST'))

  const taken = faults.take(target.endpoint)
  const fault = taken?.fault
  call.fault = fault?.kind ?? null
  if (fault?.kind === 'reset' && fault.when === 'before-body') return resetConnection(request)
  const breaksMidBody = fault?.kind === 'reset' && fault.when === 'mid-body'
  const read = await bodies.read(request, response, () => !breaksMidBody)
  if (breaksMidBody) return resetConnection(request)
  if (read.kind === 'gone') return

  try {
    const answer = await prepare(request, target, read, call, parts)
    const waitMs = parts.latencyMs + (fault?.delayMs ?? 0)
    if (waitMs > 0 && !(await sleep(waitMs, parts.signal))) return
    await play(fault, { request, response, call, signal: parts.signal, reply: () => answer(taken?.rejector) })
  } finally {
    if (read.kind === 'read') read.body.share.release()
  }
}

/**
 * Notes what came, also where a fault will hide it from the endpoint, and returns what the endpoint will answer.
 * The key is looked at before the content, as a framework's middleware does.
 */
async function prepare(
  request: IncomingMessage,
  target: EndpointTarget,
  read: Exclude<ReadResult, { kind: 'gone' }>,
  call: OpenRequest,
  parts: EndpointDependencies,
): Promise<(rejector: Rejector | undefined) => Reply> {
  if (read.kind === 'refused') return () => read.reply
  const { intake, keys, rateLimit, bodies } = parts
  const { body } = read
  const { bytes } = body
  call.bytes = bytes.length
  call.gzip = request.headers['content-encoding'] !== undefined
  if (target.endpoint === 'heartbeat') return () => intake.heartbeat(target.token)

  const decoded = await bodies.decode(request, body)
  if ('json' in decoded) {
    call.batchId = batchIdOf(decoded.json)
    call.entries = countItems(decoded.json)
  }
  const key = request.headers[API_KEY_HEADER.toLowerCase()]
  return (rejector) => {
    if (!keys.accepts(key)) return unauthorized
    const retryAfter = rateLimit?.take() ?? 0
    if (retryAfter > 0) return createTooManyRequests(retryAfter)
    if ('reply' in decoded) return decoded.reply
    const reply = route(target, decoded.json, bytes.length, intake, rejector)
    call.accepted = acceptedBy(reply)
    return reply
  }
}

function route(
  target: EndpointTarget,
  json: unknown,
  bytes: number,
  intake: Ingester,
  rejector: Rejector | undefined,
): Reply {
  switch (target.endpoint) {
    case 'ingest':
      return intake.ingest(json, bytes, rejector)
    case 'requests':
      return intake.requests(json, bytes)
    case 'feedback':
      return intake.feedback(json, bytes)
    case 'releases':
      return intake.release(json, bytes)
    case 'heartbeat':
      return intake.heartbeat(target.token)
  }
}

function acceptedBy({ body }: Reply): number {
  return (body as { accepted?: number }).accepted ?? 0
}

interface Scene {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly call: OpenRequest
  readonly signal: AbortSignal
  /** Handles the request as if there were no fault, and stores what it brought. */
  readonly reply: () => Reply
}

async function play(fault: Fault | undefined, scene: Scene): Promise<void> {
  const { request, response, call, signal, reply } = scene
  switch (fault?.kind) {
    case undefined:
    case 'delay':
    case 'reject-every':
    case 'reject-containing':
      return send(request, response, call, reply())
    case 'status':
      return send(request, response, call, statusReply(fault))
    case 'redirect': {
      const moved = createFailure(fault.status ?? 307, 'moved', 'fault', { location: fault.location })
      return send(request, response, call, moved)
    }
    case 'hang':
      return
    case 'drop-reply':
      reply()
      return resetConnection(request)
    case 'slow': {
      const slowly = reply()
      call.status = slowly.status
      return sendSlowly(response, slowly, fault.bytesPerSecond, signal)
    }
    case 'reset': {
      // Before the body and in the middle of it were played when they were due.
      const half = reply()
      call.status = half.status
      return resetConnection(request, response, half)
    }
  }
}

function statusReply({ status, body, retryAfter }: Extract<Fault, { kind: 'status' }>): Reply {
  const shown = body === undefined ? { detail: [{ msg: 'scripted fault', type: 'fault' }] } : body
  if (retryAfter === undefined) return { status, body: shown }
  return { status, body: shown, headers: { 'retry-after': String(retryAfter) } }
}

function send(request: IncomingMessage, response: ServerResponse, call: OpenRequest, reply: Reply): void {
  call.status = reply.status
  sendReply(request, response, reply)
}
