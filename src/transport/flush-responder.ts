/**
 * [worker] Replies to `flush(logger)` and receives release ids, with one listener for all of this package's transports
 * in the worker.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../shared/clock.js'
import { FLUSHED_EVENT, isFlushRequest, mergeFlushResults } from './flush-message.js'
import type { FlushReply, FlushRequest } from './flush-message.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { RELEASED_EVENT, isReleaseMessage } from './release-message.js'

interface Registry {
  readonly pipelines: Set<Pipeline>
  /** Pipelines that are loading or waiting for pino's configuration. */
  readonly starting: Set<Promise<Pipeline>>
  isListening: boolean
}

/** Global, since two versions of this package may be loaded in one worker. */
const REGISTRY = Symbol.for('pino-ingest.pipelines')
/** Maximum number of rounds of two turns of the event loop; usually a few are enough. */
const MAX_ROUNDS = 20

/**
 * Must not be called before the listener for pino's configuration is added: the first listener starts the delivery of
 * messages.
 */
export function answerFlushRequests(port: MessagePort, pipeline: Promise<Pipeline>, clock: Clock): void {
  const registry = ((globalThis as { [REGISTRY]?: Registry })[REGISTRY] ??= {
    pipelines: new Set(),
    starting: new Set(),
    isListening: false,
  })
  registry.starting.add(pipeline)
  void pipeline.then((started) => {
    registry.starting.delete(pipeline)
    registry.pipelines.add(started)
  })
  if (registry.isListening) return
  registry.isListening = true
  const waiting = new Map<string, FlushRequest>()
  const answer = (request: FlushRequest): void => {
    if (waiting.delete(request.id)) void flushAll(registry, request, clock).then((reply) => sendReply(port, reply))
  }
  port.on('message', (message: unknown) => {
    if (isFlushRequest(message)) {
      if (message.step === 'begin') {
        waiting.set(message.id, message)
        // Fallback if the `read` message does not arrive.
        clock.timer(message.answerBy - clock.wallNow(), () => answer(message))
      } else answer(message)
    } else if (isReleaseMessage(message)) {
      const { releaseId } = message
      void whenStarted(registry, () => {
        for (const one of registry.pipelines) one.setReleaseId(releaseId)
        port.postMessage({ code: 'EVENT', name: RELEASED_EVENT, args: [releaseId] })
      })
    } else if (isThreadStreamFlush(message)) for (const request of waiting.values()) answer(request)
  })
}

/** thread-stream 4 sends it when the worker has read all earlier text; version 3, used by pino 9, does not. */
function isThreadStreamFlush(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'code' in message && message.code === 'FLUSH'
}

function sendReply(port: MessagePort, reply: FlushReply): void {
  port.postMessage({ code: 'EVENT', name: FLUSHED_EVENT, args: [reply] })
}

/** Calls `call` when no pipeline is starting any more. */
async function whenStarted({ starting }: Registry, call: () => void): Promise<void> {
  if (starting.size > 0) await Promise.all(starting)
  call()
}

async function flushAll(registry: Registry, { id, answerBy }: FlushRequest, clock: Clock): Promise<FlushReply> {
  const { pipelines, starting } = registry
  const leftMs = (): number => answerBy - clock.wallNow()
  await Promise.all(starting)
  await untilReceived(pipelines, leftMs)
  const results = await Promise.all([...pipelines].map((pipeline) => flushWithin(pipeline, leftMs(), clock)))
  return { id, ...mergeFlushResults(results) }
}

/** With several targets, pino passes lines on within the worker, which takes some turns of the event loop. */
async function untilReceived(pipelines: ReadonlySet<Pipeline>, leftMs: () => number): Promise<void> {
  const received = (): number => [...pipelines].reduce((sum, { account }) => sum + account.received, 0)
  // Bounded, because the application may log without a pause, and records after the flush need not be awaited.
  for (let round = 0, before = -1; round < MAX_ROUNDS && before !== received() && leftMs() > 0; round += 1) {
    before = received()
    await turn()
    await turn()
  }
}

/** Never rejects. */
export async function flushWithin(
  pipeline: Pipeline,
  timeoutMs: number,
  clock: Clock,
): Promise<Omit<FlushReply, 'id'>> {
  const state = await new Promise<FlushReply['state']>((resolve) => {
    const cancel = clock.timer(timeoutMs, () => resolve(pipeline.isSpooled ? 'spooled' : 'timeout'))
    void pipeline.flush(timeoutMs).then((flushed) => {
      cancel()
      resolve(flushed)
    })
  })
  return { state, account: pipeline.snapshot }
}
