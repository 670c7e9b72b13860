/**
 * Who may hold a connection, and what of it may be worked on. There is room for so many; where it is full, a newcomer takes
 * the place of one that does nothing for anybody: of who waits with a request's head, else of whose body comes too slowly,
 * else of who does not read. Of requests that come before the reply to an earlier one each waits for its turn: their replies
 * would wait in memory, one behind the other, for a client that may never read them.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Younger ones are about to send, or to send on: their place is not taken. */
const IDLE_MS = 1000
const SLOW_MS = 5000
/** Requests of one connection that wait for their turn; who sends more does not wait for replies at all. */
const MAX_PIPELINED = 100

interface Busy {
  readonly sinceMs: number
  readonly waiting: (() => void)[]
}

export class ConnectionLimiter {
  readonly #maxCount: number
  readonly #now: () => number
  /** No head of a request has come, or none since the last reply. Here and in the next one, oldest first. */
  readonly #idle = new Map<Socket, number>()
  /** A head has come and the end of its body has not. */
  readonly #reading = new Map<Socket, number>()
  readonly #busy = new Map<Socket, Busy>()
  #count = 0

  constructor(maxCount: number, now: () => number) {
    this.#maxCount = maxCount
    this.#now = now
  }

  get count(): number {
    return this.#count
  }

  attachTo(server: Server): void {
    server.on('connection', (socket: Socket) => this.#came(socket))
    // Nothing moved for a while: a request that is being answered may take its time, where its client does read.
    server.on('timeout', (socket: Socket) => {
      if (!this.#busy.has(socket) || socket.writableLength > 0) socket.destroy()
    })
  }

  /** To be called for each request when its head has come. `answer` is called at once, or when its turn comes. */
  admitRequest(response: ServerResponse, answer: () => void): void {
    const { req: request } = response
    const { socket } = request
    // What was read with it still comes after a connection was cut off.
    if (socket.destroyed) return
    this.#idle.delete(socket)
    if (!request.complete) {
      this.#reading.set(socket, this.#now())
      request.once('end', () => this.#reading.delete(socket))
    }
    const start = (): void => {
      response.once('close', () => this.#answered(socket))
      answer()
    }
    const busy = this.#busy.get(socket)
    if (busy === undefined) {
      this.#busy.set(socket, { sinceMs: this.#now(), waiting: [] })
      start()
    } else if (busy.waiting.push(start) > MAX_PIPELINED) {
      socket.destroy()
    }
  }

  #came(socket: Socket): void {
    if (this.#count >= this.#maxCount && !this.#makeRoom()) {
      socket.destroy()
      return
    }
    this.#count++
    this.#idle.set(socket, this.#now())
    socket.once('close', () => {
      this.#count--
      this.#forget(socket)
    })
  }

  #answered(socket: Socket): void {
    const waiting = this.#busy.get(socket)?.waiting ?? []
    const [next] = waiting.splice(0, 1)
    if (next === undefined || socket.destroyed) {
      this.#forget(socket)
      if (!socket.destroyed) this.#idle.set(socket, this.#now())
      return
    }
    this.#busy.set(socket, { sinceMs: this.#now(), waiting })
    next()
  }

  #makeRoom(): boolean {
    const found = this.#oldest(this.#idle, IDLE_MS) ?? this.#oldest(this.#reading, SLOW_MS) ?? this.#deaf()
    if (found === undefined) return false
    // At once: its `close` comes later, and the next newcomer must not find it again.
    this.#forget(found)
    found.destroy()
    return true
  }

  #oldest(places: ReadonlyMap<Socket, number>, minAgeMs: number): Socket | undefined {
    const [first] = places
    return first !== undefined && this.#now() - first[1] >= minAgeMs ? first[0] : undefined
  }

  #deaf(): Socket | undefined {
    const untilMs = this.#now() - SLOW_MS
    for (const [socket, { sinceMs }] of this.#busy) if (sinceMs <= untilMs && socket.writableLength > 0) return socket
    return undefined
  }

  #forget(socket: Socket): void {
    this.#idle.delete(socket)
    this.#reading.delete(socket)
    this.#busy.delete(socket)
  }
}
