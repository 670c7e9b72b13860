/** Writes replies: complete, or as text. */
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
