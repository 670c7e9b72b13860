/**
 * [worker] What pino loads: the pipeline inside the frame that pino expects of a transport.
 *
 * pino-abstract-transport keeps the frame: the stream's life and its close. The splitting of lines is ours, see
 * `record/line-splitter.ts` for what its own costs.
 */
import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import type { Transform, TransformCallback } from 'node:stream'
import { parentPort, workerData } from 'node:worker_threads'
import build from 'pino-abstract-transport'
import { systemClock } from '../shared/clock.js'
import type { Clock } from '../shared/clock.js'
import { loadHook } from '../filter/load-hook.js'
import { answerFlushRequests, flushWithin } from './flush-responder.js'
import { FLUSH_METHOD } from './flush-message.js'
import type { Flushable } from './flush-message.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import type { IngestOptions } from '../options/resolve-options.js'
import { receivePinoConfig } from './pino-config.js'
import { Pipeline } from '../pipeline/pipeline.js'
import { TextSlicer } from './text-slicer.js'
import { RELEASE_METHOD } from './release-message.js'
import type { Releasable } from './release-message.js'
import type { EmitEvent, IngestEvents } from '../diagnostics/reporter.js'

/** The transport's own events, beside those of the stream. From a worker a second argument names the transport, as several `targets` share a stream. */
interface IngestEmitter {
  on<Name extends keyof IngestEvents>(
    event: Name,
    listener: (payload: IngestEvents[Name], transportId?: string) => void,
  ): this
  once<Name extends keyof IngestEvents>(
    event: Name,
    listener: (payload: IngestEvents[Name], transportId?: string) => void,
  ): this
  off<Name extends keyof IngestEvents>(
    event: Name,
    listener: (payload: IngestEvents[Name], transportId?: string) => void,
  ): this
  addListener<Name extends keyof IngestEvents>(
    event: Name,
    listener: (payload: IngestEvents[Name], transportId?: string) => void,
  ): this
  removeListener<Name extends keyof IngestEvents>(
    event: Name,
    listener: (payload: IngestEvents[Name], transportId?: string) => void,
  ): this
  /** Calls back, always without an error, when everything written before is acknowledged, refused or dropped. */
  flush(callback: () => void): void
}

/**
 * A stream that also says when all it was given is acknowledged, and tells of itself in `IngestEvents`. No interface that extends
 * `Transform`: that would have to repeat its overloads, which differ between versions of Node's types.
 */
export type IngestTransport = IngestEmitter & Transform

/**
 * The transport, as pino's `target: 'pino-ingest'` loads it in its worker thread.
 *
 * @param options see the README's table; every one can come from the environment.
 * @returns a stream that takes pino's lines. It emits `ingest:*` events and never `error`.
 * @throws IngestError `CONFIG` naming each option that is missing or wrong; pino then fails to start.
 * @see https://getpino.io/#/docs/transports
 */
export default async function ingestTransport(options: IngestOptions = {}): Promise<IngestTransport> {
  const settings = resolveFromProcess(options)
  const port = parentPort
  // In this turn: who listens later hears nothing.
  const receiving = port !== null && isAwaited(workerData) ? receivePinoConfig(port) : undefined
  const hook = settings.beforeSend === undefined ? undefined : await loadHook(settings.beforeSend)
  const config = await receiving
  // Several `targets` tell their events on one stream: the id tells them apart.
  const id = randomUUID()
  const toApp: EmitEvent | undefined =
    port === null ? undefined : (name, payload) => port.postMessage({ code: 'EVENT', name, args: [payload, id] })
  return createTransportStream(
    (emit) => {
      const pipeline = new Pipeline({ settings, config, hook, clock: systemClock, emit: toApp ?? emit })
      if (port !== null) answerFlushRequests(port, pipeline, systemClock)
      return pipeline
    },
    systemClock,
    port !== null,
  )
}

/** pino says so in the data of the worker, whose stream it will give its configuration. */
function isAwaited(data: unknown): boolean {
  return (data as { workerData?: { pinoWillSendConfig?: boolean } } | null)?.workerData?.pinoWillSendConfig === true
}

/** @param make gets the stream's own `emit`, for where there is no worker to post from. */
export function createTransportStream(
  make: (emit: EmitEvent) => Pipeline,
  clock: Clock,
  isWorker: boolean,
): IngestTransport & Flushable & Releasable {
  const stream = build(() => {}, { metadata: false, close: () => pipeline.close() })
  const pipeline = make((name, payload) => stream.emit(name, payload))
  const decoder = new StringDecoder('utf8')
  // pino writes strings. Left alone, the stream would encode each into a Buffer only for it to be decoded again,
  // which takes 0.4 us a line. Where a runtime does not know this property, Buffers arrive and are decoded.
  const state = (stream as unknown as { _writableState?: { decodeStrings?: boolean } })._writableState
  if (state !== undefined) state.decodeStrings = false
  const slices = new TextSlicer(pipeline)
  pipeline.onFinishText(() => slices.finish())
  stream._transform = (chunk: string | Buffer, _encoding: BufferEncoding, done: TransformCallback): void => {
    const text = typeof chunk === 'string' ? chunk : decoder.write(chunk)
    if (isWorker) return slices.add(text, done)
    pipeline.write(text)
    done()
  }
  stream._flush = (done: TransformCallback): void => {
    slices.finish()
    pipeline.write(decoder.end())
    pipeline.end()
    // Before `finish` and not only before `close`: in a pipeline of pino's, the worker ends at `finish`.
    void pipeline.close().then(
      () => done(),
      () => done(),
    )
  }
  // Node would answer a write after the end with `error`, or with nothing: these records are counted and told as lost.
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  const lateWrite = (chunk: unknown): boolean => {
    pipeline.write(String(chunk))
    pipeline.end()
    return true
  }
  stream.write = (chunk: unknown, ...rest: unknown[]): boolean =>
    stream.writableEnded ? lateWrite(chunk) : write(chunk, ...rest)
  stream.resume() // nothing comes out, but without a reader the stream would never end
  return Object.assign(stream, {
    flush: (callback: () => void): void => {
      void pipeline.flush().then(() => callback())
    },
    [RELEASE_METHOD]: (releaseId: string) => pipeline.setReleaseId(releaseId),
    [FLUSH_METHOD]: (timeoutMs: number) => flushWithin(pipeline, timeoutMs, clock),
  })
}
