/**
 * [worker] Receives the application's messages, with one listener for all of this package's transports in the worker:
 * flushes, release ids, and what `ingestOptions()` needs if the worker ends.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../shared/clock.js'
import { FLUSHED_EVENT, mergeFlushResults } from './flush-message.js'
import type { FlushReply, FlushRequest, FlushResult, FlushState } from './flush-message.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { RELEASED_EVENT, isMessage } from './worker-messages.js'
import type { ReleaseMessage, SupervisorMessage } from './worker-messages.js'

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
  /** Flushes without a reply: by id, the time of their end, and whether everything was read that was logged before. */
  const open = new Map<string, { readonly endsAt: number; isRead: boolean }>()
  const reply = (id: string, result: FlushResult): void => {
    const answer: FlushReply = { id, ...result }
    if (open.delete(id)) port.postMessage({ code: 'EVENT', name: FLUSHED_EVENT, args: [answer] })
  }
  const onRead = (id: string): void => {
    const request = open.get(id)
    if (request === undefined || request.isRead) return
    request.isRead = true
    void flushAll(registry, () => request.endsAt - clock.now(), clock).then((result) => reply(id, result))
  }
  const onEnd = (id: string): void => {
    // Not known to a worker that replaced another one in the meantime.
    const { isRead } = open.get(id) ?? { isRead: false }
    open.set(id, { endsAt: 0, isRead })
    const isComplete = isRead && registry.starting.size === 0
    const results = [...registry.pipelines].map((one) => toResult(one, isComplete && one.isSpooled))
    reply(id, mergeFlushResults(results.length === 0 ? [{ state: 'timeout' }] : results))
  }
  port.on('message', (message: unknown) => {
    if (isMessage<FlushRequest>(message, 'PINO_INGEST_FLUSH')) {
      if (message.step === 'begin') open.set(message.id, { endsAt: clock.now() + message.leftMs, isRead: false })
      else if (message.step === 'read') onRead(message.id)
      else onEnd(message.id)
    } else if (isMessage<ReleaseMessage>(message, 'PINO_INGEST_RELEASE') && typeof message.releaseId === 'string') {
      const { releaseId } = message
      void whenStarted(registry, () => {
        for (const one of registry.pipelines) one.setReleaseId(releaseId)
        port.postMessage({ code: 'EVENT', name: RELEASED_EVENT, args: [releaseId] })
      })
    } else if (isMessage<SupervisorMessage>(message, 'PINO_INGEST_SUPERVISOR')) {
      void whenStarted(registry, () => {
        let { lost } = message
        for (const one of registry.pipelines) {
          one.attachSupervisor(message.counts, lost)
          lost &&= 0
        }
      })
    } else if (isMessage(message, 'FLUSH')) {
      // thread-stream 4 sends it when the worker has read all earlier text; version 3, used by pino 9, does not.
      for (const id of open.keys()) onRead(id)
    }
  })
}

/** Calls `call` when no pipeline is starting any more. */
async function whenStarted({ starting }: Registry, call: () => void): Promise<void> {
  if (starting.size > 0) await Promise.all(starting)
  call()
}

async function flushAll({ pipelines, starting }: Registry, leftMs: () => number, clock: Clock): Promise<FlushResult> {
  await Promise.all(starting)
  await untilReceived(pipelines, leftMs)
  const results = await Promise.all([...pipelines].map((pipeline) => flushWithin(pipeline, leftMs(), clock)))
  return mergeFlushResults(results)
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
export async function flushWithin(pipeline: Pipeline, timeoutMs: number, clock: Clock): Promise<FlushResult> {
  const state = await new Promise<FlushState | undefined>((resolve) => {
    const cancel = clock.timer(timeoutMs, () => resolve(undefined))
    void pipeline.flush(timeoutMs).then((flushed) => {
      cancel()
      resolve(flushed)
    })
  })
  return state === undefined ? toResult(pipeline, pipeline.isSpooled) : { state, account: pipeline.snapshot }
}

function toResult({ snapshot }: Pipeline, isSpooled: boolean): FlushResult {
  return { state: isSpooled ? 'spooled' : 'timeout', account: snapshot }
}
