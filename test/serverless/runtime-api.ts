/**
 * Lambda's Runtime API on loopback: passes events to a runtime one at a time, and receives the results of its
 * handler.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface Posted {
  readonly requestId: string
  readonly what: 'response' | 'error'
  readonly result: unknown
}

export interface Invocation {
  /** Timeout of the function in milliseconds. Default 10 s. */
  readonly timeoutMs?: number
  /** Called when the response arrives, before the runtime receives the reply. */
  readonly onPosted?: () => void
}

export interface RuntimeApi {
  /** Host and port. */
  readonly address: string
  /** Invokes the function; one invocation at a time. Resolves with the response. */
  invoke(event: unknown, invocation?: Invocation): Promise<Posted>
  close(): Promise<void>
}

interface Pending extends Invocation {
  readonly requestId: string
  readonly event: unknown
  readonly resolve: (posted: Posted) => void
}

const BASE = '/2018-06-01/runtime/invocation/'
const TIMEOUT_MS = 10_000

export async function runtimeApi(): Promise<RuntimeApi> {
  let asking: ServerResponse | undefined
  let pending: Pending | undefined

  const give = (): void => {
    if (asking === undefined || pending === undefined) return
    asking
      .writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': pending.requestId,
        'lambda-runtime-deadline-ms': String(Date.now() + (pending.timeoutMs ?? TIMEOUT_MS)),
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:000000000000:function:orders',
      })
      .end(JSON.stringify(pending.event))
    asking = undefined
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.slice(BASE.length) ?? ''
    if (request.method === 'GET' && path === 'next') {
      asking = response
      return give()
    }
    const [requestId, what] = path.split('/')
    const result = await json(request)
    if (pending === undefined || requestId !== pending.requestId || (what !== 'response' && what !== 'error'))
      return void response.writeHead(400).end()
    const { resolve, onPosted } = pending
    pending = undefined
    onPosted?.()
    response.writeHead(202).end()
    resolve({ requestId, what, result })
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  // The sandbox's own connection, which is suspended with it.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event, invocation = {}) =>
      new Promise((resolve) => {
        pending = { ...invocation, requestId: randomUUID(), event, resolve }
        give()
      }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
