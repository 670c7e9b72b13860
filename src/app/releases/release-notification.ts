/** [main] Sends the id of a release to the transports behind a logger. */
import { systemClock } from '../../shared/clock.js'
import type { Clock } from '../../shared/clock.js'
import { RELEASED_EVENT, RELEASE_METHOD } from '../../transport/release-message.js'
import type { Releasable, ReleaseMessage } from '../../transport/release-message.js'
import { isWorkerStream, findLoggerStreams } from '../logger/logger-streams.js'

/** The used part of pino's stream to its worker. */
interface WorkerStream {
  readonly ready?: boolean
  readonly destroyed?: boolean
  emit(event: 'message', message: ReleaseMessage): boolean
  on(event: typeof RELEASED_EVENT, listener: (releaseId: string) => void): void
  off(event: typeof RELEASED_EVENT, listener: (releaseId: string) => void): void
  once(event: 'ready', listener: () => void): void
}

/** Time for a worker to start in milliseconds. */
const START_MS = 5_000
/** Time for the reply in milliseconds. A worker without this package's transport does not reply. */
const ANSWER_MS = 1_000

/** Resolves when later entries have the id, or when the time for a reply is over. Never rejects. */
export async function notifyRelease(logger: object, releaseId: string, clock: Clock = systemClock): Promise<void> {
  await Promise.all(
    findLoggerStreams(logger).map((stream) => {
      if (RELEASE_METHOD in stream) return (stream as Releasable)[RELEASE_METHOD](releaseId)
      return isWorkerStream(stream) ? notifyWorker(stream as WorkerStream, releaseId, clock) : undefined
    }),
  )
}

/** Sends the message when the worker is ready, because earlier another transport in the worker may receive it. */
function notifyWorker(stream: WorkerStream, releaseId: string, clock: Clock): Promise<void> {
  if (stream.destroyed === true) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      cancel()
      stream.off(RELEASED_EVENT, onReleased)
      resolve()
    }
    const onReleased = (id: string): void => {
      if (id === releaseId) finish()
    }
    const send = (): void => {
      cancel()
      cancel = clock.timer(ANSWER_MS, finish)
      try {
        stream.emit('message', { code: 'PINO_INGEST_RELEASE', releaseId })
      } catch {
        finish() // the worker has ended, so no more entries are logged
      }
    }
    // A worker that starts later still gets the message.
    let cancel = clock.timer(START_MS, finish)
    stream.on(RELEASED_EVENT, onReleased)
    if (stream.ready === false) stream.once('ready', send)
    else send()
  })
}
