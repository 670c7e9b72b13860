import { Agent } from 'node:http'
import axios from 'axios'
import { HEADERS, closedPort, listenHttp } from './servers.mjs'
export { close } from './servers.mjs'

const port = await listenHttp((request, response) => {
  if (request.url.startsWith('/slow')) return
  if (request.url.startsWith('/reset')) return request.socket.destroy()
  response.writeHead(500, { 'content-type': 'application/json', 'set-cookie': 'session=secret-cookie' })
  response.end(JSON.stringify({ error: 'no stock', token: 'secret-reply', rows: Array(5000).fill('secret-row') }))
})
const closed = await closedPort()
const client = axios.create({
  baseURL: `http://127.0.0.1:${port}`,
  headers: HEADERS,
  auth: { username: 'shop', password: 'secret-password' },
  httpAgent: new Agent({ keepAlive: false }),
  proxy: false,
})
const controller = new AbortController()

export const cases = {
  'status 500': () => client.post('/orders?token=secret-parameter', { card: 'secret-card' }),
  refused: () => client.get(`http://127.0.0.1:${closed}/orders`),
  'refused, all addresses': () => client.get(`http://all.test:${closed}/orders`),
  timeout: () => client.get('/slow', { timeout: 50 }),
  reset: () => client.get('/reset'),
  canceled: () => {
    setTimeout(() => controller.abort(), 20)
    return client.get('/slow', { signal: controller.signal })
  },
  'wrong URL': () => client.get('http://[host'),
}
