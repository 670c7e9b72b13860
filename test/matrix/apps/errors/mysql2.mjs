import mysql from 'mysql2'
import mysqlPromise from 'mysql2/promise'
import { closedPort } from './servers.mjs'

const server = mysql.createServer()
server.on('connection', (connection) => {
  connection.on('error', () => {})
  connection.serverHandshake({
    protocolVersion: 10,
    serverVersion: '8.4.0',
    connectionId: 1,
    statusFlags: 2,
    characterSet: 8,
    capabilityFlags: 0xffffff ^ 0x800,
    authCallback: ({ database }, callback) =>
      callback(null, database === 'refuse' ? { message: "Access denied for user 'shop'@'localhost' (using password: YES)", code: 1045 } : undefined),
  })
  connection.on('query', (sql) => {
    if (sql.startsWith('INSERT'))
      connection.writeError({ message: "Duplicate entry 'jane@example.com' for key 'users.email'", code: 1062 })
    else if (sql.startsWith('HANG')) connection.close()
    else connection.writeError({ message: 'You have an error in your SQL syntax near FORM', code: 1064 })
  })
})
await new Promise((resolve) => server.listen(0, resolve))
const { port } = server._server.address()
const closed = await closedPort()
const config = { host: '127.0.0.1', port, user: 'shop', password: 'secret-password', database: 'shop' }

async function query(text, values) {
  const connection = await mysqlPromise.createConnection(config)
  connection.connection.on('error', () => {})
  try {
    await connection.query(text, values)
  } finally {
    connection.destroy()
  }
}

export const cases = {
  refused: () => mysqlPromise.createConnection({ ...config, port: closed }),
  'refused, all addresses': () => mysqlPromise.createConnection({ ...config, host: 'all.test', port: closed }),
  'wrong password': () => mysqlPromise.createConnection({ ...config, database: 'refuse' }),
  'duplicate key': () =>
    query('INSERT INTO users (email, password) VALUES (?, ?)', ['jane@example.com', 'secret-value']),
  'syntax error': () => query('SELECT * FORM users'),
  'connection ended': () => query('HANG UP'),
}
export const close = () => server._server.close()
