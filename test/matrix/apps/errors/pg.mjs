import pg from 'pg'
import { closedPort, listenTcp } from './servers.mjs'
export { close } from './servers.mjs'

const message = (type, body) => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const READY = message('Z', Buffer.from('I'))
const failure = (fields) =>
  message('E', Buffer.from(`${Object.entries(fields).map(([code, text]) => `${code}${text}\0`).join('')}\0`))
const DUPLICATE = {
  S: 'ERROR',
  V: 'ERROR',
  C: '23505',
  M: 'duplicate key value violates unique constraint "users_email_key"',
  D: 'Key (email)=(jane@example.com) already exists.',
  s: 'public',
  t: 'users',
  n: 'users_email_key',
  F: 'nbtinsert.c',
  L: '666',
  R: '_bt_check_unique',
}
const SYNTAX = { S: 'ERROR', V: 'ERROR', C: '42601', M: 'syntax error at or near "FORM"', P: '10', F: 'scan.l', L: '1188', R: 'scanner_yyerror' }
const NO_PASSWORD = { S: 'FATAL', V: 'FATAL', C: '28P01', M: 'password authentication failed for user "shop"', F: 'auth.c', L: '326', R: 'auth_failed' }

const port = await listenTcp((socket) => {
  let isStarted = false
  socket.on('data', (data) => {
    const text = data.toString('latin1')
    if (!isStarted) {
      isStarted = true
      if (text.includes('refuse')) return socket.end(failure(NO_PASSWORD))
      return socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]))
    }
    if (text.includes('INSERT')) socket.write(Buffer.concat([failure(DUPLICATE), READY]))
    else if (text.includes('FORM')) socket.write(Buffer.concat([failure(SYNTAX), READY]))
    else if (text.includes('HANG_UP')) socket.destroy()
  })
})
const closed = await closedPort()
const url = (at, host = '127.0.0.1', database = 'shop') => `postgres://shop:secret-password@${host}:${at}/${database}`

async function query(text, values) {
  const client = new pg.Client({ connectionString: url(port) })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(text, values)
  } finally {
    client.end().catch(() => {})
  }
}

export const cases = {
  refused: () => new pg.Client({ connectionString: url(closed) }).connect(),
  'refused, all addresses': () => new pg.Client({ connectionString: url(closed, 'all.test') }).connect(),
  'wrong password': () => new pg.Client({ connectionString: url(port, '127.0.0.1', 'refuse') }).connect(),
  'duplicate key': () => query('INSERT INTO users (email, password) VALUES ($1, $2)', ['jane@example.com', 'secret-value']),
  'syntax error': () => query('SELECT * FORM users'),
  'connection ended': () => query('SELECT HANG_UP()'),
  'pool timeout': async () => {
    const silent = await listenTcp(() => {})
    return new pg.Pool({ connectionString: url(silent), connectionTimeoutMillis: 50 }).query('SELECT 1')
  },
}
