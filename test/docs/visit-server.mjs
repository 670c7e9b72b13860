/** Preloaded into programs that start a server: it listens on a free port, gets a few requests, and the program ends. */
import cluster from 'node:cluster'
import { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** Requests to a worker of a cluster may reach another one, which may have ended. */
const PATHS = cluster.isWorker ? [] : ['/orders/7', '/orders/13']

const { listen } = NetServer.prototype
let isVisited = false

Server.prototype.listen = function (first, ...rest) {
  if (!isVisited) this.once('listening', () => visit(this.address().port))
  isVisited = true
  return listen.call(this, typeof first === 'object' ? { ...first, port: 0 } : 0, ...rest)
}

async function visit(port) {
  for (const path of PATHS) {
    const response = await fetch(`http://localhost:${port}${path}`)
    process.stdout.write(`${response.status} ${await response.text()}\n`)
  }
  process.exit()
}
