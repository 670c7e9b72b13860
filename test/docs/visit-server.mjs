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
    const body = await response.text()
    process.stdout.write(`${response.status} ${body}\n`)
    if (body.includes('<form')) await submit(body, port)
  }
  process.exit()
}

/** The form of an error page, with a hidden field and a text. */
async function submit(form, port) {
  const [action, hidden, value, text] = [...form.matchAll(/(?:action|name|value)="([^"]*)"/g)].map(([, found]) => found)
  await fetch(`http://localhost:${port}${action}`, {
    method: 'POST',
    body: new URLSearchParams({ [hidden]: value, [text]: 'I clicked twice' }),
  })
}
