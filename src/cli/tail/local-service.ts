/** A running local service, as `tail` asks it. Node's own HTTP: it is on this machine, and loads nothing. */
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { isOurs } from '../dev/neighbour.js'

/**
 * - `token`: it does not take the token.
 * - `foreign`: what answers is no local service.
 * - `busy`: later.
 * - `refused`: the question is wrong, in the service's words.
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
/** The stream says something every 15 s. */
const SILENCE_MS = 45_000
/** A page of 1,000 entries of 256 KiB. */
const MAX_REPLY_BYTES = 2 ** 28

export class LocalService {
  readonly origin: string
  readonly #token: () => string
  readonly #signal: AbortSignal
  readonly #agent = new Agent({ keepAlive: true })

  constructor(origin: string, token: () => string, signal: AbortSignal) {
    this.origin = origin
    this.#token = token
    this.#signal = signal
  }

  /** Rejects with an AnswerError, or with the system's error. */
  async json<T>(path: string, query: Query = {}): Promise<T> {
    const response = await this.#get(path, query, 'application/json')
    const text = await textOf(response)
    try {
      return JSON.parse(text) as T
    } catch {
      throw new AnswerError('foreign', 'its answer is no JSON')
    }
  }

  /** As `json`. Ends with an error where nothing comes for 45 s. */
  async stream(query: Query, lastEventId: string | undefined): Promise<IncomingMessage> {
    const response = await this.#get('stream', query, 'text/event-stream', lastEventId === undefined ? {} : { 'last-event-id': lastEventId })
    response.setTimeout(SILENCE_MS, () => response.destroy(new Error(`nothing came for ${SILENCE_MS / 1000} s`)))
    return response
  }

  close(): void {
    this.#agent.destroy()
  }

  async #get(path: string, query: Query, type: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    const url = new URL(`/local/${path}`, this.origin)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(url, { agent: this.#agent, signal: this.#signal, headers: { ...headers, accept: type, authorization: `Bearer ${this.#token()}` } }, resolve)
      asked.setTimeout(REPLY_TIMEOUT_MS, () => asked.destroy(new Error(`no answer within ${REPLY_TIMEOUT_MS / 1000} s`)))
      asked.on('error', reject)
      asked.end()
    })
    if (response.statusCode === 200 && response.headers['content-type']?.startsWith(type) === true) return response
    throw await problemOf(response)
  }
}

async function problemOf(response: IncomingMessage): Promise<AnswerError> {
  const { statusCode: status = 0, headers } = response
  const said = messageIn(await textOf(response))
  if (status === 401 && isOurs(headers['www-authenticate'])) return new AnswerError('token', said)
  if (status === 503) return new AnswerError('busy', said)
  if ((status === 400 || status === 403) && said !== '') return new AnswerError('refused', said)
  return new AnswerError('foreign', `it answered ${status}`)
}

/** `detail[0].msg`. Empty where it is not the service's form. */
function messageIn(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: readonly { msg?: unknown }[] }
    return String(detail?.[0]?.msg ?? '')
  } catch {
    return ''
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) {
    text += chunk as string
    if (text.length > MAX_REPLY_BYTES) throw new AnswerError('foreign', 'its answer is too long')
  }
  return text
}
