import { Agent, interceptors, request } from 'undici'
import { HEADERS, closedPort, listenHttp } from './servers.mjs'

const port = await listenHttp((received, response) => {
  if (received.url === '/headers') return
  if (received.url === '/reset') return received.socket.destroy()
  if (received.url === '/500') {
    response.writeHead(500, { 'content-type': 'application/json', 'set-cookie': 'session=secret-cookie' })
    return response.end('{"error":"no stock","token":"secret-reply"}')
  }
  response.writeHead(200, { 'content-length': 100 }).write('begun')
})
const closed = await closedPort()
const agent = new Agent({ headersTimeout: 50, bodyTimeout: 50 })
const ask = (path, options) =>
  request(`http://127.0.0.1:${port}${path}`, { headers: HEADERS, dispatcher: agent, ...options })

export const cases = {
  refused: () => request(`http://127.0.0.1:${closed}/orders?token=secret-parameter`, { headers: HEADERS }),
  'refused, all addresses': () => request(`http://all.test:${closed}/orders`, { headers: HEADERS }),
  'headers timeout': () => ask('/headers'),
  'body timeout': async () => (await ask('/body')).body.text(),
  reset: () => ask('/reset'),
  'status 500': () => ask('/500', { dispatcher: agent.compose(interceptors.responseError()) }),
  aborted: () => ask('/headers', { signal: AbortSignal.abort() }),
  'fetch: refused': () => fetch(`http://127.0.0.1:${closed}/orders?token=secret-parameter`, { headers: HEADERS }),
  'fetch: refused, all addresses': () => fetch(`http://all.test:${closed}/orders`, { headers: HEADERS }),
  'fetch: reset': () => fetch(`http://127.0.0.1:${port}/reset`, { headers: HEADERS }),
  'fetch: timeout': () => fetch(`http://127.0.0.1:${port}/headers`, { signal: AbortSignal.timeout(20) }),
  'fetch: aborted': () => fetch(`http://127.0.0.1:${port}/headers`, { signal: AbortSignal.abort() }),
  'fetch: no URL': () => fetch('no-scheme:orders/'),
}
export const close = async () => {
  await agent.destroy()
  const servers = await import('./servers.mjs')
  servers.close()
}
