/** Writes replies: complete, as text, or byte by byte. */
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from './monotonic.mjs'

/** @param {import('./fault-server.mjs').Call} call @param {import('node:http').ServerResponse} response @param {import('./formats.mjs').Reply} answer */
export function reply(call, response, { status, body, headers }) {
  call.status = status
  const isEmpty = status === 204
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(!isEmpty && { 'content-length': Buffer.byteLength(body) }),
    ...headers,
  })
  response.end(isEmpty ? undefined : body, () => {
    call.answeredAt = nowMs()
  })
}

/** @param {import('./formats.mjs').Reply} answer */
export function wire({ status, body, headers }) {
  const all = Object.entries({
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...headers,
  })
  return `HTTP/1.1 ${status} As Scripted\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** @param {import('./fault-server.mjs').Call} call @param {import('node:http').ServerResponse} response @param {string} text @param {number} everyMs */
export async function dribble(call, response, text, everyMs) {
  const { socket } = response
  for (const byte of text) {
    if (socket === null || socket.destroyed) return
    socket.write(byte)
    await sleep(everyMs)
  }
  call.answeredAt = nowMs()
  call.status = 200
  socket?.end()
}
