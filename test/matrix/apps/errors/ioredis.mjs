import { Redis } from 'ioredis'
import { closedPort, listenTcp } from './servers.mjs'

const port = await listenTcp((socket) =>
  socket.on('data', (data) => {
    const text = data.toString()
    const replies = text.split('*').filter((part) => part !== '').map((part) => {
      if (/\r\nauth\r\n/i.test(part)) return part.includes('secret-wrong') ? '-WRONGPASS invalid username-password pair or user is disabled.\r\n' : '+OK\r\n'
      if (/\r\nlpush\r\n/i.test(part)) return '-WRONGTYPE Operation against a key holding the wrong kind of value\r\n'
      if (/\r\ninfo\r\n/i.test(part)) return '$17\r\nredis_version:7.4\r\n'
      return '+OK\r\n'
    })
    socket.write(replies.join(''))
  }),
)
const closed = await closedPort()
const clients = []
const connect = (options) => {
  const client = new Redis({ host: '127.0.0.1', port, password: 'secret-password', ...options })
  client.on('error', () => {})
  clients.push(client)
  return client
}

export const cases = {
  'max retries': () => connect({ port: closed, maxRetriesPerRequest: 1, retryStrategy: () => 10 }).get('order'),
  refused: () => connect({ port: closed, lazyConnect: true, retryStrategy: () => null }).connect(),
  'no queue': () => connect({ port: closed, enableOfflineQueue: false, retryStrategy: () => null }).get('order'),
  'wrong type': () => connect().lpush('session', 'secret-value'),
  'wrong password': () => connect({ lazyConnect: true }).call('AUTH', 'shop', 'secret-wrong'),
  'pipeline discarded': () => connect().pipeline().lpush('session', 'secret-value').exec().then(([[error]]) => { throw error }),
}
export const close = async () => {
  for (const client of clients) client.disconnect()
  const servers = await import('./servers.mjs')
  servers.close()
}
