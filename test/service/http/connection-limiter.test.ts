/** Whose place a newcomer takes, with sockets and time made up; and who is cut off, with real ones. */
import { EventEmitter } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ConnectionLimiter } from '../../../src/service/http/connection-limiter.js'
import { resolveServiceOptions } from '../../../src/service/service-options.js'
import { startService } from '../../../src/service/service.js'
import { head, rawClient } from '../raw-client.js'
import { entryOf, ingest, local, until } from '../support.js'

class FakeSocket extends EventEmitter {
  destroyed = false
  writableLength = 0

  destroy(): void {
    this.destroyed = true
    // As a real one: later.
    setImmediate(() => this.emit('close'))
  }
}

interface FakeExchange {
  readonly answered: () => boolean
  readonly bodyEnds: () => void
  readonly replyEnds: () => void
}

function setUp(maxCount: number) {
  let nowMs = 0
  const connections = new ConnectionLimiter(maxCount, () => nowMs)
  const server = new EventEmitter()
  connections.attachTo(server as Server)
  const come = (): FakeSocket => {
    const socket = new FakeSocket()
    server.emit('connection', socket)
    return socket
  }
  const ask = (socket: FakeSocket, complete = true): FakeExchange => {
    const request = Object.assign(new EventEmitter(), { socket, complete })
    const response = Object.assign(new EventEmitter(), { req: request })
    let isAnswered = false
    connections.admitRequest(response as unknown as ServerResponse, () => (isAnswered = true))
    return { answered: () => isAnswered, bodyEnds: () => request.emit('end'), replyEnds: () => response.emit('close') }
  }
  return { connections, server, come, ask, pass: (ms: number) => void (nowMs += ms) }
}

describe('where it is full', () => {
  it('a newcomer takes the place of the one that has waited longest with a head', async () => {
    const { connections, come, ask, pass } = setUp(3)
    const [first, second, third] = [come(), come(), come()]
    pass(500)
    ask(first).replyEnds()
    pass(600)
    const fourth = come()
    expect([first, second, third, fourth].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
    const fifth = come()
    expect([first, third, fifth].map(({ destroyed }) => destroyed)).toEqual([false, true, false])
    await until(() => connections.count === 3)
  })

  it('a young one keeps its place', () => {
    const { come, pass } = setUp(1)
    const first = come()
    pass(999)
    expect([come().destroyed, first.destroyed]).toEqual([true, false])
    pass(1)
    expect([come().destroyed, first.destroyed]).toEqual([false, true])
  })

  it('else of one whose body comes too slowly, and never of one that is being answered', () => {
    const { come, ask, pass } = setUp(3)
    const [slow, asked, sent] = [come(), come(), come()]
    ask(slow, false)
    ask(asked)
    ask(sent, false).bodyEnds()
    pass(4999)
    expect(come().destroyed).toBe(true)
    pass(1)
    expect(come().destroyed).toBe(false)
    expect([slow, asked, sent].map(({ destroyed }) => destroyed)).toEqual([true, false, false])
    pass(999)
    expect(come().destroyed).toBe(true)
  })

  it('else of one that does not take its reply', () => {
    const { come, ask, pass } = setUp(2)
    const [deaf, slow] = [come(), come()]
    ask(deaf)
    ask(slow)
    deaf.writableLength = 1
    pass(4999)
    expect(come().destroyed).toBe(true)
    pass(1)
    expect([come().destroyed, deaf.destroyed, slow.destroyed]).toEqual([false, true, false])
  })
})

describe('requests of one connection', () => {
  it('are answered one after the other', () => {
    const { come, ask } = setUp(1)
    const socket = come()
    const [first, second, third] = [ask(socket), ask(socket), ask(socket)]
    expect([first.answered(), second.answered(), third.answered()]).toEqual([true, false, false])
    first.replyEnds()
    expect([second.answered(), third.answered()]).toEqual([true, false])
    second.replyEnds()
    expect(third.answered()).toBe(true)
    third.replyEnds()
    expect(ask(socket).answered()).toBe(true)
  })

  it('wait up to a bound; who sends more is cut off, and what was read with it is not looked at', () => {
    const { come, ask } = setUp(1)
    const socket = come()
    const asked = Array.from({ length: 101 }, () => ask(socket))
    expect(socket.destroyed).toBe(false)
    asked.push(ask(socket), ask(socket))
    expect(socket.destroyed).toBe(true)
    asked[0]?.replyEnds()
    expect(asked.filter((one) => one.answered())).toHaveLength(1)
  })
})

describe('who is cut off in time', () => {
  async function startImpatient() {
    const timeouts = { headersMs: 100, requestMs: 200, keepAliveMs: 100, idleMs: 100, checkMs: 20 }
    const service = await startService(resolveServiceOptions({}), { after: () => () => {}, timeouts })
    onTestFinished(() => service.close())
    return service
  }

  it.each([
    ['says nothing', ''],
    ['sends half a head', 'POST /api/v1/ingest HTTP/1.1\r\nhost: local'],
    ['sends half a body', `${head('/api/v1/ingest', { 'content-length': 9 })}{`],
    ['asks nothing more', head('/', {}, 'GET')],
  ])('one that %s', async (_name, text) => {
    const { port } = await startImpatient()
    const client = rawClient({ port })
    client.socket.write(text)
    await until(() => client.isClosed())
  })

  it('one that sends a body byte by byte', async () => {
    const { port } = await startImpatient()
    const client = rawClient({ port })
    client.socket.write(head('/api/v1/ingest', { 'content-length': 1_000_000 }))
    await until(() => {
      client.socket.write(' ')
      return client.isClosed()
    })
  })

  it('one that does not take its reply; one whose reply takes its time is not', async () => {
    const service = await startImpatient()
    const logs = Array.from({ length: 100 }, () => entryOf({ metadata: { pad: 'x'.repeat(45_000) } }))
    for (let n = 0; n < 4; n++) await ingest(service, logs)
    service.faults.add({ kind: 'hang', endpoint: 'feedback' })
    const patient = rawClient({ port: service.port })
    patient.socket.write(`${head('/api/v1/feedback', { 'content-length': 2 })}{}`)
    const deaf = rawClient({ port: service.port, reads: false })
    deaf.socket.pause()
    deaf.socket.write(head(`/local/entries?limit=1000&token=${service.token}`, {}, 'GET'))
    // As long as it takes for connections that say nothing, and that three times.
    for (let round = 0; round < 3; round++) {
      const idle = rawClient({ port: service.port })
      await until(() => idle.isClosed())
    }
    let length = 0
    deaf.socket.on('data', (chunk: Buffer) => (length += chunk.length)).resume()
    await until(() => deaf.isClosed())
    expect(length).toBeLessThan(15_000_000)
    expect(patient.isClosed()).toBe(false)
    expect((await local(service, 'counts')).status).toBe(200)
  })
})
