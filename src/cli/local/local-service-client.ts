/**
 * HTTP client of `tail`, `query` and `mcp` for the local service. It uses Node's own HTTP client, which loads fast. While the user's service is not running,
 * any user of the machine can listen on its port. So the listener must first prove that it has the token, and the client sends the token
 * only on that connection.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { COMMENT_INTERVAL_MS } from '../../service/stream/server-sent-events.js'
import { CHALLENGE_HEADER, isLocalService, findProofProblem } from '../../shared/local-proof.js'

/**
 * - `token`: a local service that did not prove that it has the token
 * - `foreign`: not a local service
 * - `busy`: retry later
 * - `refused`: invalid request; the message is from the service
 */
export type AnswerProblem = 'token' | 'foreign' | 'busy' | 'refused'

export class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly problem: AnswerProblem

  constructor(problem: AnswerProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

export type Query = Readonly<Record<string, string | number>>

const REPLY_TIMEOUT_MS = 10_000
/** Several comment intervals, since a query can block the service for longer than one. */
const SILENCE_MS = 5 * COMMENT_INTERVAL_MS
/** A page of 1,000 entries of 256 KiB. */
const MAX_REPLY_BYTES = 2 ** 28

export class LocalServiceClient {
  readonly origin: string
  readonly #token: () => string
  readonly #signal: AbortSignal | undefined
  readonly #agent = createSingleConnectionAgent()

  constructor(origin: string, token: () => string, signal: AbortSignal | undefined) {
    this.origin = origin
    this.#token = token
    this.#signal = signal
  }

  /** Rejects with an AnswerError, or with the system's error. */
  async json<T>(path: string, query: Query = {}): Promise<T> {
    const response = await this.#get(this.#agent, path, query, 'application/json')
    const text = await readText(response)
    try {
      return JSON.parse(text) as T
    } catch {
      throw new AnswerError('foreign', 'its reply is not JSON')
    }
  }

  /** Rejects like `json`. The stream fails after 10 s without data. */
  async stream(query: Query, lastEventId: string | undefined): Promise<IncomingMessage> {
    const agent = createSingleConnectionAgent()
    try {
      const response = await this.#get(
        agent,
        'stream',
        query,
        'text/event-stream',
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
      )
      response.setTimeout(SILENCE_MS, () => response.destroy(new Error(`no data for ${SILENCE_MS / 1000} s`)))
      response.once('close', () => agent.destroy())
      return response
    } catch (error) {
      agent.destroy()
      throw error
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  async #get(
    agent: Agent,
    path: string,
    query: Query,
    type: string,
    headers: OutgoingHttpHeaders = {},
  ): Promise<IncomingMessage> {
    const token = this.#token()
    const proven = await this.#prove(agent, token)
    const url = new URL(`/local/${path}`, this.origin)
    for (const [name, value] of Object.entries(query)) if (value !== '') url.searchParams.set(name, String(value))
    const response = await this.#ask(agent, url, { ...headers, accept: type, authorization: `Bearer ${token}` }, proven)
    if (response.statusCode === 200 && response.headers['content-type']?.startsWith(type) === true) return response
    throw await toAnswerError(response)
  }

  /** @returns the connection on which the listener has proved that it has the token */
  async #prove(agent: Agent, token: string): Promise<Socket> {
    const nonce = randomBytes(16).toString('base64url')
    const response = await this.#ask(agent, new URL('/local/status', this.origin), { [CHALLENGE_HEADER]: nonce })
    const { socket, statusCode, headers } = response
    const { remoteAddress: address = '', remotePort: port = 0 } = socket
    const problem = findProofProblem(statusCode, headers['www-authenticate'], token, nonce, { address, port })
    if (problem !== undefined) {
      response.destroy()
      throw new AnswerError(problem, `it replied with status ${statusCode}`)
    }
    await readText(response)
    return socket
  }

  /** @param only the only connection on which the request may be sent */
  #ask(agent: Agent, url: URL, headers: OutgoingHttpHeaders, only?: Socket): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { agent, signal: this.#signal, headers }, resolve)
      asked.setTimeout(REPLY_TIMEOUT_MS, () => asked.destroy(new Error(`no reply within ${REPLY_TIMEOUT_MS / 1000} s`)))
      asked.on('error', reject)
      asked.once('socket', (socket) => {
        if (only === undefined || socket === only) asked.end()
        else asked.destroy(new Error('the connection was closed'))
      })
    })
  }
}

/** With at most one socket, a request reuses the connection of the previous request. */
function createSingleConnectionAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}

async function toAnswerError(response: IncomingMessage): Promise<AnswerError> {
  const { statusCode: status = 0, headers } = response
  const message = findMessage(await readText(response))
  if (status === 401 && isLocalService(headers['www-authenticate'])) return new AnswerError('token', message)
  if (status === 503) return new AnswerError('busy', message)
  if ([400, 403, 404].includes(status) && message !== '') return new AnswerError('refused', message)
  return new AnswerError('foreign', `it replied with status ${status}`)
}

/** @returns `detail[0].msg`; '' if the reply has another form */
function findMessage(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: readonly { msg?: unknown }[] }
    return String(detail?.[0]?.msg ?? '')
  } catch {
    return ''
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) {
    text += chunk as string
    if (text.length > MAX_REPLY_BYTES) throw new AnswerError('foreign', `its reply exceeds ${MAX_REPLY_BYTES} bytes`)
  }
  return text
}
