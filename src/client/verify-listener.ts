/** Verifies that the listener on a connection is the local service of this user, before anything else is sent on it. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { CHALLENGE_HEADER, findProofProblem } from '../shared/local-proof.js'
import type { ChallengeReply } from '../shared/local-proof.js'
import { findToken, TOKEN_VARIABLE } from '../options/dev-token.js'
import { readProcessEnv } from '../options/process-env.js'
import { HttpFailure } from './http-types.js'

/** Much larger than the reply of the local service. */
const MAX_REPLY_BYTES = 16 * 1024

/**
 * Uses the connection that later sends the requests, because by the next connection another program may listen on the
 * port. The token is not sent.
 * @param url the base URL
 * @throws HttpFailure `unproven`; the caller must destroy the socket
 */
export async function verifyListener(socket: Socket, url: string, timeoutMs: number): Promise<void> {
  // Read each time, because `pino-ingest dev` creates the token at its first start.
  const { token, from, problem = '' } = findToken(readProcessEnv())
  const { remoteAddress: address = '', remotePort: port = 0 } = socket
  const { host } = new URL(url)
  const notLocal = (why: string): HttpFailure =>
    new HttpFailure(
      'unproven',
      `the program on ${host} is not a local service (${why})`,
      'stop it, or set PINO_INGEST_URL',
    )
  if (token === undefined) {
    const remedy = from === TOKEN_VARIABLE ? 'fix or unset it' : 'run `npx pino-ingest dev` as this user'
    throw new HttpFailure('unproven', `the program on ${host} cannot be checked: ${from} ${problem}`, remedy)
  }
  const nonce = randomBytes(16).toString('base64url')
  const reply = await ask(
    socket,
    `GET /local/status HTTP/1.1\r\nHost: ${host}\r\n${CHALLENGE_HEADER}: ${nonce}\r\n\r\n`,
    timeoutMs,
  )
  if (typeof reply === 'string') throw notLocal(reply)
  switch (findProofProblem(reply, token, nonce, { address, port })) {
    case 'token':
      throw new HttpFailure(
        'unproven',
        `the local service on ${host} has another token than ${from}`,
        `if it is yours, set ${TOKEN_VARIABLE} to its token, or PINO_INGEST_URL=${url} and PINO_INGEST_API_KEY=any to use it without the check`,
      )
    case 'foreign':
      throw notLocal(reply.status === 0 ? 'its reply is not HTTP' : `status ${reply.status}`)
    case undefined:
  }
}

/** For runtimes without access to the connections of requests. @throws HttpFailure `unproven`, and system errors */
export async function verifyListenerAt(url: string, timeoutMs: number): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).on('error', reject)
    })
    await verifyListener(socket, url, timeoutMs)
  } finally {
    socket.destroy()
  }
}

/** @returns the reply, or the reason for a missing one */
function ask(socket: Socket, request: string, timeoutMs: number): Promise<ChallengeReply | string> {
  return new Promise((resolve) => {
    let text = ''
    const settle = (result: ChallengeReply | string): void => {
      clearTimeout(timer)
      socket.off('readable', read).off('close', onClose)
      resolve(result)
    }
    const read = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
        text += chunk.toString('latin1')
      const reply = wholeReply(text)
      if (reply !== undefined) settle(reply)
      else if (text.length > MAX_REPLY_BYTES) settle('its reply is too long')
    }
    const onClose = (): void => settle('it closed the connection')
    const timer = setTimeout(() => settle(`it did not answer within ${timeoutMs} ms`), timeoutMs)
    // Not `data`, which leaves the stream flowing without a listener. The listener of `error` stays, because the next
    // user of the socket adds its own one turn later. `close` follows it.
    socket
      .on('readable', read)
      .once('close', onClose)
      .on('error', () => {})
    socket.write(request)
  })
}

/** @param text one character per byte @returns undefined while it is incomplete */
function wholeReply(text: string): ChallengeReply | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  if (text.length < end + 4 + Number(headers.get('content-length') ?? 0)) return undefined
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})\b/.exec(statusLine)?.[1] ?? 0),
    challenge: headers.get('www-authenticate'),
  }
}
