/** [main] Starts a replacement if pino's worker fails, or if another transport in `targets` ends it. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { APPLICATION_MESSAGES } from '../../diagnostics/messages.js'
import { describeThrown } from '../../shared/argument-checks.js'
import { nativeSetImmediate as setImmediate, systemClock } from '../../shared/clock.js'
import { isExiting } from '../../shared/exiting.js'
import type { SupervisorMessage } from '../../transport/worker-messages.js'
import { keepReachable } from './logger-streams.js'

/** The used part of thread-stream's stream. */
export interface ThreadStream extends EventEmitter {
  readonly worker: Worker
  readonly ready: boolean
  readonly destroyed: boolean
  readonly closed: boolean
  readonly writable: boolean
  readonly writableErrored: unknown
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

/** Replacements within `WINDOW_MS`. A worker that always ends, for example for lack of memory, must not be started forever. */
const MAX_REPLACEMENTS = 3
const WINDOW_MS = 60_000
/** Number of workers that is reported: each needs 15 to 20 MB, and usually one is enough. */
const WARN_AT_WORKERS = 11
/** Properties and methods that pino and this package use on the stream. */
const STATES = ['destroyed', 'closed', 'writable', 'writableEnded'] as const
const FORWARDED = ['end', 'flush', 'flushSync', 'ref', 'unref'] as const

/** Number of supervised workers that have not ended. */
let running = 0
/** Workers that `takeNextWorker` found and whose streams are not supervised yet. */
const taken = new WeakSet<object>()

/** Calls `take` with the stream of the worker that pino starts now, at the end of this turn. */
export function takeNextWorker(take: (stream: ThreadStream) => void): void {
  const onWorker = (message: unknown): void => {
    unsubscribe('worker_threads', onWorker)
    // thread-stream sets this property after it has created the worker. Not `queueMicrotask`, which fake timers replace.
    const { worker } = message as { worker: { stream?: { deref?(): ThreadStream | undefined } } }
    taken.add(worker)
    void Promise.resolve().then(() => {
      const stream = worker.stream?.deref?.()
      if (stream !== undefined) take(stream)
    })
  }
  subscribe('worker_threads', onWorker)
  void Promise.resolve().then(() => unsubscribe('worker_threads', onWorker))
}

/**
 * Once per stream, and only if `takeNextWorker` found its worker. From then on the stream never emits `error`, except if
 * its first worker cannot start.
 */
export function superviseWorker(stream: ThreadStream, options: SupervisorOptions): void {
  if (taken.delete(stream.worker)) new Supervisor(stream, options).attach(stream)
}

/** The first stream stays the logger's, and passes on to that of the latest worker. */
class Supervisor {
  readonly #first: ThreadStream
  readonly #options: SupervisorOptions
  #current: ThreadStream
  /** Of the current worker: see `SupervisorMessage`. */
  #counts: Float64Array = new Float64Array()
  /** Records that the current worker's transports are to receive, and those lost before it. */
  #expected = 0
  #replacedAt: number[] = []
  /** Whether no replacement is started any more. */
  #isStopped = false

  constructor(first: ThreadStream, options: SupervisorOptions) {
    this.#first = first
    this.#current = first
    this.#options = options
    const write = first.write.bind(first)
    first.write = (line) => {
      if (this.#current.destroyed && !this.#current.writableEnded)
        this.#onEnd(this.#current, this.#current.writableErrored ?? undefined)
      const receivers = this.#options.countReceivers?.() ?? 0
      this.#expected += receivers
      if (this.#isStopped || this.#current.writableEnded) return this.#countLate(receivers)
      return this.#current === first ? write(line) : this.#current.write(line)
    }
  }

  attach(stream: ThreadStream, lost?: number): void {
    this.#counts = new Float64Array(new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT))
    this.#expected = lost ?? 0
    let failure: unknown
    keepReachable(stream)
    running += 1
    if (running === WARN_AT_WORKERS) this.#options.report(APPLICATION_MESSAGES.manyWorkers.text(WARN_AT_WORKERS))
    stream.worker.on('error', (error) => (failure = error))
    stream.on('error', (error) => this.#onEnd(stream, failure ?? error))
    stream.on('close', () => {
      running -= 1
      this.#onEnd(stream, failure)
    })
    stream.emit('message', { code: 'PINO_INGEST_SUPERVISOR', counts: this.#counts, lost } satisfies SupervisorMessage)
  }

  #onEnd(stream: ThreadStream, reason?: unknown): void {
    if (stream !== this.#current || this.#isStopped) return
    if (stream.writableEnded) {
      if (reason !== undefined) this.#stop()
      return
    }
    if (stream === this.#first && !stream.ready && isReported(reason)) return this.#failStart(reason)
    const now = systemClock.now()
    this.#replacedAt = this.#replacedAt.filter((at) => now - at < WINDOW_MS)
    const cause = reason === undefined ? 'it exited' : describeThrown(reason)
    if (this.#replacedAt.length >= MAX_REPLACEMENTS)
      return this.#giveUp(cause, `${MAX_REPLACEMENTS} restarts within ${WINDOW_MS / 1000} s`)
    this.#replacedAt.push(now)
    const lost = this.#lost
    try {
      this.#current = this.#options.start() as ThreadStream
    } catch (error) {
      return this.#giveUp(cause, describeThrown(error))
    }
    this.#options.report(APPLICATION_MESSAGES.workerReplaced.text(cause))
    this.#forward(this.#current)
    this.attach(this.#current, lost)
  }

  /** A worker that reports an error before it is ready has invalid options, which end an application that does not listen. */
  #failStart(error: Error): void {
    this.#stop()
    if (this.#first.listenerCount('error') > 1) return
    setImmediate(() => {
      throw error
    })
  }

  /** Records of which no outcome is known and that are not on disk. */
  get #lost(): number {
    const [received = 0, safe = 0] = this.#counts
    return Math.max(this.#expected, received) - safe
  }

  #forward(replacement: ThreadStream): void {
    const first = this.#first
    const emit = replacement.emit.bind(replacement)
    replacement.emit = (name: string | symbol, ...args: unknown[]) => {
      if (typeof name === 'string' && name.startsWith('ingest:')) first.emit(name, ...args)
      return emit(name, ...args)
    }
    if (Object.hasOwn(first, 'flush')) return
    first.on('message', (message) => this.#current.emit('message', message))
    Object.defineProperty(first, 'ready', { value: true })
    for (const name of STATES) Object.defineProperty(first, name, { get: () => this.#current[name] })
    for (const name of FORWARDED)
      Object.defineProperty(first, name, {
        value: (...args: unknown[]) =>
          (this.#current as unknown as Record<string, (...given: unknown[]) => unknown>)[name]?.(...args),
      })
  }

  #giveUp(cause: string, reason: string): void {
    this.#stop()
    this.#options.report(APPLICATION_MESSAGES.workerNotReplaced.text(cause, reason))
  }

  /** Called for a record that no worker can receive: pino has ended the worker at exit, or it was not replaced. */
  #countLate(records: number): true {
    // A listener for `exit` that is added now is not called.
    if (!this.#isStopped && isExiting())
      this.#reportLost(records, 'a listener for `exit` logged after the worker had ended')
    else this.#stop()
    return true
  }

  #stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    process.once('exit', () => this.#reportLost(this.#lost, 'the worker ended before they were on disk'))
  }

  #reportLost(records: number, reason: string): void {
    if (records > 0) this.#options.report(APPLICATION_MESSAGES.workerLost.text(records, reason))
  }
}

/** Whether the worker reported the error. Otherwise it was terminated, or out of memory, which the worker itself emits. */
function isReported(reason: unknown): reason is Error {
  return reason instanceof Error && !('code' in reason) && reason.message !== 'the worker thread exited'
}
