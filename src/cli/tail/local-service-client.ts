/**
 * HTTP client of `tail` for the local service. It uses Node's own HTTP, which loads fast. While the user's service is not
 * running, any user of the machine can listen on its port. So the listener must first prove that it knows the token, and receives
 * the token only on that connection.
 */
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { COMMENT_INTERVAL_MS } from '../../service/stream/server-sent-events.js'
import { CHALLENGE_HEADER, isLocalService, findProofProblem } from '../../shared/local-proof.js'

/**
 * - `token`: a local service with another token.
 * - `foreign`: not a local service that knows the token.
 * - `busy`: retry later.
 * - `refused`: an invalid request; the message is from the service.
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
/** A query can block the service for longer than it takes between two comments. */
const SILENCE_MS = 5 * COMMENT_INTERVAL_MS
/** A page of 1,000 entries of 256 KiB. */
const MAX_REPLY_BYTES = 2 ** 28

export class LocalServiceClient {
  readonly origin: string
  readonly #token: () => string
  readonly #signal: AbortSignal
  readonly #agent = createSingleConnectionAgent()

  constructor(origin: string, token: () => string, signal: AbortSignal) {
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
      throw new AnswerError('foreign', 'its answer is no JSON')
    }
  }

  /** Rejects as `json`. The stream fails after 10 s of silence. */
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
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
    const response = await this.#ask(agent, url, { ...headers, accept: type, authorization: `Bearer ${token}` }, proven)
    if (response.statusCode === 200 && response.headers['content-type']?.startsWith(type) === true) return response
    throw await toAnswerError(response)
  }

  /** @returns the connection to a listener that has proved that it knows the token. Its later replies are not read */
  async #prove(agent: Agent, token: string): Promise<Socket> {
    const nonce = randomBytes(16).toString('base64url')
    const response = await this.#ask(agent, new URL('/local/status', this.origin), { [CHALLENGE_HEADER]: nonce })
    const {
      socket,
      statusCode: status = 0,
      headers: { 'www-authenticate': challenge },
    } = response
    const { remoteAddress: address = '', remotePort: port = 0 } = socket
    const problem = findProofProblem({ status, challenge }, token, nonce, { address, port })
    if (problem !== undefined) {
      response.destroy()
      if (problem === 'token')
        throw new AnswerError(
          problem,
          "it does not know the token of this user: another user's service, or one that was started with another token",
        )
      const isUnproven = status === 401 && isLocalService(challenge)
      throw new AnswerError(
        problem,
        isUnproven
          ? "it does not know the token of this user: another user's service, or not a local service"
          : `it answered ${status}`,
      )
    }
    await readText(response)
    return socket
  }

  /** @param only the request is sent on this connection or not at all */
  #ask(agent: Agent, url: URL, headers: OutgoingHttpHeaders, only?: Socket): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { agent, signal: this.#signal, headers }, resolve)
      asked.setTimeout(REPLY_TIMEOUT_MS, () =>
        asked.destroy(new Error(`no answer within ${REPLY_TIMEOUT_MS / 1000} s`)),
      )
      asked.on('error', reject)
      asked.once('socket', (socket) => {
        if (only === undefined || socket === only) asked.end()
        else asked.destroy(new Error('the connection was closed'))
      })
    })
  }
}

/** With at most one socket, a request uses the connection of the one before. */
function createSingleConnectionAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}

async function toAnswerError(response: IncomingMessage): Promise<AnswerError> {
  const { statusCode: status = 0, headers } = response
  const message = findMessage(await readText(response))
  if (status === 401 && isLocalService(headers['www-authenticate'])) return new AnswerError('token', message)
  if (status === 503) return new AnswerError('busy', message)
  if ((status === 400 || status === 403) && message !== '') return new AnswerError('refused', message)
  return new AnswerError('foreign', `it answered ${status}`)
}

/** `detail[0].msg`. Empty if the reply has another form. */
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
    if (text.length > MAX_REPLY_BYTES) throw new AnswerError('foreign', 'its answer is too long')
  }
  return text
}
