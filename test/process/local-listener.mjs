/**
 * Another user's program on the local service's port: writes every received byte to stdout, and answers 200 to
 * anything.
 */
import { createServer } from 'node:net'

if (process.getuid() === 0) {
  process.setgroups([])
  process.setgid(12_345)
  process.setuid(12_345)
}
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    process.stdout.write(bytes)
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 44\r\n\r\n{"accepted":1,"message":"","rejected":0    }',
    )
  })
})
server.listen(4319, '127.0.0.1', () => process.stderr.write(`listens as ${process.getuid()}\n`))
