/** The stream that pino writes to, in its worker or in the application's own thread. */
import type { EventEmitter } from 'node:events'
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { EmitEvent, IngestEvents } from '../diagnostics/reporter.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Clock } from '../shared/clock.js'
import { FLUSH_METHOD } from './flush-message.js'
import type { FlushResult, Flushable } from './flush-message.js'
import { flushWithin } from './flush-responder.js'
import { RELEASE_METHOD } from './release-message.js'
import type { Releasable } from './release-message.js'

/** Not an overload beside those of Node's types: a listener for another payload would match one of them. */
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
  /** Calls `callback()` (never with an error) once everything written before is acknowledged, rejected or dropped. */
  flush(callback: () => void): void
}

/** The stream to pino's worker: `pino.transport({ target: 'pino-ingest' }) as IngestTransport`. `IngestStream` has the same events. */
export type IngestTransport = Reporting<EventEmitter> & {
  write(line: string): boolean
  end(): void
}

/** The stream of `ingestStream()`. */
export type IngestStream = Reporting<Transform>

export interface TransportStreamOptions {
  readonly clock: Clock
  /** Long text is read a slice at a time, and pino waits for the end of it. */
  readonly isWorker: boolean
  /** @param emit emits an event on this stream */
  readonly createPipeline: (emit: EmitEvent) => Pipeline
}

export class TransportStream extends Transform implements Flushable, Releasable {
  readonly pipeline: Pipeline
  readonly #clock: Clock
  readonly #isWorker: boolean
  readonly #decoder = new StringDecoder('utf8')

  constructor({ clock, isWorker, createPipeline }: TransportStreamOptions) {
    // pino writes strings. Encoding and decoding each line would take 0.4 us. Some runtimes encode them nevertheless and pass Buffers.
    super({ decodeStrings: false, readableObjectMode: true })
    this.#clock = clock
    this.#isWorker = isWorker
    this.pipeline = createPipeline((name, payload) => this.emit(name, payload))
    this.resume() // there is no output, but a stream that is not read never ends
  }

  flush(callback: () => void): void {
    void this.pipeline.flush().then(() => callback())
  }

  [RELEASE_METHOD](releaseId: string): void {
    this.pipeline.setReleaseId(releaseId)
  }

  [FLUSH_METHOD](timeoutMs: number): Promise<FlushResult> {
    return flushWithin(this.pipeline, timeoutMs, this.#clock)
  }

  /** For a write after the end Node would emit `error`, or nothing. Instead, these records are counted and reported as lost. */
  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (!this.writableEnded) return (super.write as (...args: unknown[]) => boolean).call(this, chunk, ...rest)
    this.pipeline.records.write(String(chunk))
    this.pipeline.end()
    return true
  }

  override _transform(chunk: string | Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    if (this.#isWorker) return this.pipeline.records.add(text, done)
    this.pipeline.records.write(text)
    done()
  }

  override _flush(done: TransformCallback): void {
    this.pipeline.records.finish()
    this.pipeline.records.write(this.#decoder.end())
    this.pipeline.end()
    // Must complete before `finish`, not only before `close`: in a pino pipeline the worker ends at `finish`.
    void this.pipeline.close().then(() => done())
  }

  /** Does not pass on the error: an `error` event ends pino's worker or, without a listener, the application. */
  override _destroy(_error: Error | null, done: (error: Error | null) => void): void {
    void this.pipeline.close().then(() => done(null))
  }
}
