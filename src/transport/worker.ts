/** [worker] The module that pino loads as `target: 'pino-ingest'`. */
import '../shared/node-version.js'
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { EmitEvent } from '../diagnostics/reporter.js'
import { loadHook } from '../filter/load-hook.js'
import type { HookFunction } from '../filter/load-hook.js'
import { requireNats } from '../nats/require-nats.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import type { IngestOptions } from '../options/resolve-options.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { systemClock } from '../shared/clock.js'
import { answerFlushRequests } from './flush-responder.js'
import { receivePinoConfig } from './pino-config.js'
import { TransportStream } from './transport-stream.js'
import type { IngestStream } from './transport-stream.js'

const STDERR = 2
/** An application that is not exiting reads the message within this time and terminates the worker. */
const ERROR_MESSAGE_MS = 100

/** thread-stream starts pino's worker with the memory that both share. */
export function isPinoWorker(): boolean {
  return parentPort !== null && (workerData as { stateBuf?: unknown } | null)?.stateBuf !== undefined
}

/** The transport. For options that are missing or invalid it resolves to a stream that fails, and pino does not start. */
export async function ingestTransport(options: IngestOptions = {}): Promise<IngestStream> {
  const port = parentPort as MessagePort
  let settings
  let hook: HookFunction | undefined
  // In this turn of the event loop, because a later listener would miss the message.
  const receiving = isAwaited(workerData) ? receivePinoConfig(port) : undefined
  try {
    settings = resolveFromProcess(options)
    requireNats(settings)
    if (settings.beforeSend !== undefined) hook = await loadHook(settings.beforeSend, settings.secrets)
  } catch (error) {
    return (await createFailedStream(error as Error, port)) as unknown as IngestStream
  }
  // Several `targets` emit their events on one stream, so the id identifies the transport.
  const id = randomUUID()
  const emit: EmitEvent = (name, payload) => port.postMessage({ code: 'EVENT', name, args: [payload, id] })
  const stream = new TransportStream({ clock: systemClock, isWorker: true })
  // The stream is ready before the pipeline and pino's configuration. Lines wait for both; an application that awaits
  // `ready` does not.
  const pipeline = loadPipeline().then(async (Pipeline) => {
    const started = new Pipeline({ settings, config: await receiving, hook, clock: systemClock, emit })
    stream.connect(started)
    return started
  })
  answerFlushRequests(port, pipeline, systemClock)
  return stream as IngestStream
}

/** In the next turn of the event loop, because pino's worker reports in this one that the stream is ready. */
async function loadPipeline(): Promise<typeof Pipeline> {
  await new Promise((resolve) => setImmediate(resolve))
  const module = await import('../pipeline/pipeline.js')
  return module.Pipeline
}

/**
 * Reports the error to pino's stream in the application, which emits it. An application that is already exiting does
 * not read messages: it waits for the returned stream, which fails, or for 10 s without the reason if the promise is
 * rejected. Lines are not consumed, since pino would then report a success. With several `targets`, pino waits 10 s all
 * the same.
 */
async function createFailedStream(error: Error, port: MessagePort): Promise<Writable> {
  port.postMessage({ code: 'ERROR', err: error })
  await setTimeout(ERROR_MESSAGE_MS)
  writeSync(STDERR, `pino-ingest: ${error.message}\n`)
  const stream = new Writable({ emitClose: false, highWaterMark: 0, write: () => {} })
  setImmediate(() => stream.destroy(error))
  return stream
}

/** pino announces its configuration in the worker's data. */
function isAwaited(data: unknown): boolean {
  return (data as { workerData?: { pinoWillSendConfig?: boolean } } | null)?.workerData?.pinoWillSendConfig === true
}
