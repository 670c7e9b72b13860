/** The stream that pino writes to, in its worker or in the application's thread. */
import { AsyncResource } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { IngestEvents } from '../diagnostics/reporter.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Clock } from '../shared/clock.js'
import { FLUSH_METHOD } from './flush-message.js'
import type { FlushResult, Flushable } from './flush-message.js'
import { flushWithin } from './flush-responder.js'
import { RELEASE_METHOD } from './worker-messages.js'
import type { Releasable } from './worker-messages.js'

/**
 * Not an overload in addition to those of Node's types, because a listener with a wrong payload would match one of
 * them.
 */
type Listen<Emitter> = <Name extends string | symbol>(
  event: Name,
  listener: Name extends keyof IngestEvents
    ? (payload: IngestEvents[Name], transportId?: string) => void
    : // oxlint-disable-next-line typescript/no-explicit-any -- as in Node's types
      (...args: any[]) => void,
) => Emitter

type ListenerMethod =
  | 'on'
  | 'once'
  | 'off'
  | 'addListener'
  | 'removeListener'
  | 'prependListener'
  | 'prependOnceListener'

/** A stream that reports through `IngestEvents`. From a worker listeners get the transport's id, too, since several `targets` share a stream. */
type Reporting<Stream> = Omit<Stream, ListenerMethod | 'flush'> & {
  readonly [Method in ListenerMethod]: Listen<Reporting<Stream>>
} & {
  /** Calls `callback()` (never with an error) once everything written before is acknowledged or dropped. */
  flush(callback: () => void): void
}

/** The stream to pino's worker: `pino.transport({ target: 'pino-ingest' }) as IngestTransport`. `IngestStream` has the same events. */
export type IngestTransport = Reporting<EventEmitter> & {
  /** Accepts lines of pino's records. `false`: wait for `drain`. */
  write(line: string): boolean
  /** Sends what is pending, for at most `shutdownTimeoutMs`, and ends the worker. */
  end(): void
}

/** The stream of `ingestStream()`. */
export type IngestStream = Reporting<Transform>

export interface TransportStreamOptions {
  readonly clock: Clock
  /** Whether long text is read in slices, with pino waiting for its end. */
  readonly isWorker: boolean
}

/**
 * Runs its work in the async context in which it was created. Otherwise its requests would join the trace of the first request that logs,
 * and its timers and connections would retain that request's stores.
 *
 * Text and calls wait until `connect()`, because pino's configuration may arrive after the stream is ready.
 */
export class TransportStream extends Transform implements Flushable, Releasable {
  readonly #clock: Clock
  readonly #isWorker: boolean
  readonly #context = new AsyncResource('pino-ingest')
  readonly #decoder = new StringDecoder('utf8')
  #pipeline: Pipeline | undefined
  readonly #waiting: ((pipeline: Pipeline) => void)[] = []

  constructor({ clock, isWorker }: TransportStreamOptions) {
    // pino writes strings. Encoding and decoding each line would take 0.4 us. Some runtimes encode them nevertheless and pass Buffers.
    super({ decodeStrings: false, readableObjectMode: true })
    this.#clock = clock
    this.#isWorker = isWorker
    this.resume() // there is no output, but an unread stream never ends
  }

  connect(pipeline: Pipeline): void {
    this.#pipeline = pipeline
    for (const call of this.#waiting.splice(0)) call(pipeline)
  }

  flush(callback: () => void): void {
    const flushed = new Promise((resolve) => this.#whenConnected((pipeline) => resolve(pipeline.flush())))
    void flushed.then(() => callback()) // in the caller's context
  }

  [RELEASE_METHOD](releaseId: string): void {
    this.#whenConnected((pipeline) => pipeline.setReleaseId(releaseId))
  }

  [FLUSH_METHOD](timeoutMs: number): Promise<FlushResult> {
    return new Promise((resolve) =>
      this.#whenConnected((pipeline) => resolve(flushWithin(pipeline, timeoutMs, this.#clock))),
    )
  }

  /** Also accepts records after the end, which the pipeline stores or counts as dropped. Node would emit `error` or ignore them. */
  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (!this.writableEnded && !this.destroyed)
      return (super.write as (...args: unknown[]) => boolean).call(this, chunk, ...rest)
    this.#whenConnected((pipeline) => {
      pipeline.records.write(String(chunk))
      pipeline.endInput()
    })
    return true
  }

  override _transform(chunk: string | Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const pipeline = this.#pipeline
    if (pipeline === undefined) {
      this.#waiting.push((connected) => this.#readWaiting(connected, text, done))
      return
    }
    this.#read(pipeline, text, done)
  }

  override _flush(done: TransformCallback): void {
    this.#whenConnected((pipeline) => {
      pipeline.records.finish()
      pipeline.records.write(this.#decoder.end())
      pipeline.endInput()
      // Must complete before `finish`, not only before `close`, because in a pino pipeline the worker exits at
      // `finish`.
      void pipeline.close().then(() => done())
    })
  }

  /** Does not pass on the error, because an `error` event ends pino's worker or, without a listener, the application. */
  override _destroy(_error: Error | null, done: (error: Error | null) => void): void {
    this.#whenConnected((pipeline) => void pipeline.close().then(() => done(null)))
  }

  #read(pipeline: Pipeline, text: string, done: TransformCallback): void {
    if (this.#isWorker) return pipeline.records.add(text, done)
    this.#context.runInAsyncScope(pipeline.records.write, pipeline.records, text)
    done()
  }

  /**
   * Calls `done()` after reading the text. `done()` passes on all text that Node buffered in the meantime; called
   * during the read, each piece would take a turn of the event loop.
   */
  #readWaiting(pipeline: Pipeline, text: string, done: TransformCallback): void {
    let isReading = true
    let isDone = false
    this.#read(pipeline, text, () => {
      if (isReading) isDone = true
      else done()
    })
    isReading = false
    if (isDone) done()
  }

  #whenConnected(call: (pipeline: Pipeline) => void): void {
    if (this.#pipeline === undefined) this.#waiting.push(call)
    else this.#context.runInAsyncScope(call, undefined, this.#pipeline)
  }
}
