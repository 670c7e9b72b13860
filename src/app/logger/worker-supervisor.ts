/** [main] Starts a successor if pino's worker ends before the application ends it: by a failure, or by a neighbour in `targets`. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { APPLICATION_MESSAGES } from '../../diagnostics/messages.js'
import { describeThrown } from '../../shared/argument-checks.js'
import { systemClock } from '../../shared/clock.js'
import type { WatchMessage } from '../../transport/watch-message.js'

/** The used part of thread-stream's stream. */
interface ThreadStream extends EventEmitter {
  readonly worker: Worker
  readonly ready: boolean
  readonly destroyed: boolean
  /** Whether `end()` was called. */
  readonly writableEnded: boolean
  write(line: string): boolean
}

export interface SupervisorOptions {
  /** Starts the same transport again. @returns its stream @throws pino's errors */
  readonly start: () => object
  /** How many of the worker's transports receive the record that is written now. Undefined if that cannot be known. */
  readonly countReceivers: (() => number) | undefined
  /** Writes a line to stderr. */
  readonly report: (message: string) => void
}

/** Successors within `WINDOW_MS`. A worker that always ends, for example for lack of memory, must not be started forever. */
const MAX_SUCCESSORS = 3
const WINDOW_MS = 60_000
/** Each worker needs 15 to 20 MB. */
const MANY_WORKERS = 11
/** Methods that pino and `flush()` call on the stream. */
const FORWARDED = ['end', 'flush', 'flushSync', 'ref', 'unref'] as const

/**
 * Streams of workers that have not ended. Referred to here because V8 may collect a logger that is no longer used, and pino then ends
 * its worker, even if entries wait there for the service.
 */
const running = new Set<object>()
const supervised = new WeakSet<object>()

/** Calls `take` with the stream of the worker that pino starts in this turn. */
export function takeNextWorker(take: (stream: object) => void): void {
  const onWorker = (message: unknown): void => {
    unsubscribe('worker_threads', onWorker)
    // thread-stream sets this property after it has created the worker. Not `queueMicrotask`, which fake timers replace.
    const { worker } = message as { worker: { stream?: { deref?(): object | undefined } } }
    void Promise.resolve().then(() => {
      const stream = worker.stream?.deref?.()
      if (stream !== undefined) take(stream)
    })
  }
  subscribe('worker_threads', onWorker)
  void Promise.resolve().then(() => unsubscribe('worker_threads', onWorker))
}

/** Once per stream. From then on the stream never emits `error`, except if its first worker cannot start. */
export function superviseWorker(stream: object, options: SupervisorOptions): void {
  if (supervised.has(stream)) return
  supervised.add(stream)
  new Supervisor(stream as ThreadStream, options).watch(stream as ThreadStream, 0)
}

/** The first stream stays the logger's, and passes on to that of the latest worker. */
class Supervisor {
  readonly #first: ThreadStream
  readonly #options: SupervisorOptions
  #current: ThreadStream
  /** Of the current worker. */
  #secured: Float64Array = new Float64Array()
  /** Records that the current worker's transports are to receive, and those lost before it. */
  #expected = 0
  #startedAt: number[] = []
  /** Whether no successor is started any more. */
  #isOff = false

  constructor(first: ThreadStream, options: SupervisorOptions) {
    this.#first = first
    this.#current = first
    this.#options = options
    const write = first.write.bind(first)
    first.write = (line) => {
      if (this.#current.destroyed && !this.#current.writableEnded) this.#onEnd(this.#current)
      const receivers = this.#options.countReceivers?.() ?? 0
      this.#expected += receivers
      if (this.#isOff || this.#current.writableEnded) return this.#lose(receivers)
      return this.#current === first ? write(line) : this.#current.write(line)
    }
  }

  watch(stream: ThreadStream, lost: number): void {
    this.#secured = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
    this.#expected = lost
    let failure: unknown
    running.add(stream)
    if (running.size === MANY_WORKERS) this.#options.report(APPLICATION_MESSAGES.manyWorkers.text(MANY_WORKERS))
    stream.worker.on('error', (error) => (failure = error))
    stream.on('error', (error) => this.#onEnd(stream, failure ?? error))
    stream.on('close', () => {
      running.delete(stream)
      this.#onEnd(stream, failure)
    })
    const message: WatchMessage = { code: 'PINO_INGEST_WATCH', secured: this.#secured, lost }
    stream.emit('message', message)
  }

  #onEnd(stream: ThreadStream, reason?: unknown): void {
    if (stream !== this.#current || this.#isOff) return
    if (stream.writableEnded) {
      if (reason !== undefined) this.#stop()
      return
    }
    // A worker that reports an error is running. If that is the first one and not ready, its options are invalid.
    if (stream === this.#first && !stream.ready && stream.worker.threadId >= 0 && reason !== undefined) throw reason
    const now = systemClock.now()
    this.#startedAt = this.#startedAt.filter((at) => now - at < WINDOW_MS)
    const cause = reason === undefined ? 'it exited' : describeThrown(reason)
    if (this.#startedAt.length >= MAX_SUCCESSORS) return this.#giveUp(cause)
    this.#startedAt.push(now)
    const lost = this.#lost
    try {
      this.#current = this.#options.start() as ThreadStream
    } catch (error) {
      return this.#giveUp(`${cause}; ${describeThrown(error)}`)
    }
    this.#options.report(APPLICATION_MESSAGES.workerReplaced.text(cause))
    this.#forward(this.#current)
    this.watch(this.#current, lost)
  }

  /** Records of which no outcome is known and that are not on disk. */
  get #lost(): number {
    return Math.max(0, this.#expected - (this.#secured[0] ?? 0))
  }

  #forward(successor: ThreadStream): void {
    const first = this.#first
    const emit = successor.emit.bind(successor)
    successor.emit = (name: string | symbol, ...args: unknown[]) => {
      if (typeof name === 'string' && name.startsWith('ingest:')) first.emit(name, ...args)
      return emit(name, ...args)
    }
    if (Object.hasOwn(first, 'flush')) return
    first.on('message', (message) => this.#current.emit('message', message))
    Object.defineProperty(first, 'ready', { value: true })
    Object.defineProperty(first, 'destroyed', { get: () => this.#current.destroyed })
    for (const name of FORWARDED)
      Object.defineProperty(first, name, {
        value: (...args: unknown[]) =>
          (this.#current as unknown as Record<string, (...given: unknown[]) => unknown>)[name]?.(...args),
      })
  }

  #giveUp(cause: string): void {
    this.#stop()
    this.#options.report(APPLICATION_MESSAGES.workerNotReplaced.text(cause, MAX_SUCCESSORS, WINDOW_MS / 1000))
  }

  /** Called for a record that is logged after the end: by a listener of `exit` that runs after pino's, or without a worker. */
  #lose(records: number): true {
    // Node sets it before it emits `exit`, and calls no listener that is added later.
    if (!this.#isOff && (process as { readonly _exiting?: unknown })._exiting === true) this.#reportLost(records)
    else this.#stop()
    return true
  }

  #stop(): void {
    if (this.#isOff) return
    this.#isOff = true
    process.once('exit', () => this.#reportLost(this.#lost))
  }

  #reportLost(records: number): void {
    if (records > 0) this.#options.report(APPLICATION_MESSAGES.workerLost.text(records))
  }
}
