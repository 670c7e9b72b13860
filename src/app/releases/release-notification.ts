/** [main] Tells the transports behind a logger of a release, wherever they run. */
import { systemClock } from '../../shared/clock.js'
import type { Clock } from '../../shared/clock.js'
import { RELEASED_EVENT, RELEASE_METHOD } from '../../transport/release-message.js'
import type { Releasable, ReleaseMessage } from '../../transport/release-message.js'
import { isWorkerStream, findLoggerStreams } from '../logger/logger-streams.js'

/** pino's stream to its worker, as far as it is used here. */
interface WorkerStream {
  readonly ready?: boolean
  readonly destroyed?: boolean
  emit(event: 'message', message: ReleaseMessage): boolean
  on(event: typeof RELEASED_EVENT, listener: (releaseId: string) => void): void
  off(event: typeof RELEASED_EVENT, listener: (releaseId: string) => void): void
  once(event: 'ready', listener: () => void): void
}

/** For a worker to start in. */
const START_MS = 5_000
/** For its answer; a worker without this package's transport gives none. */
const ANSWER_MS = 1_000

/** Resolves once what is logged from then on carries the id, or when no answer comes in time. Never rejects. */
export async function notifyRelease(logger: object, releaseId: string, clock: Clock = systemClock): Promise<void> {
  await Promise.all(
    findLoggerStreams(logger).map((stream) => {
      if (RELEASE_METHOD in stream) return (stream as Releasable)[RELEASE_METHOD](releaseId)
      return isWorkerStream(stream) ? notifyWorker(stream as WorkerStream, releaseId, clock) : undefined
    }),
  )
}

/** Not before the worker is ready: until then another transport in it may be the one that gets the message. */
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
        finish() // the worker has ended: nothing is logged any more
      }
    }
    // Who starts later than this is told all the same.
    let cancel = clock.timer(START_MS, finish)
    stream.on(RELEASED_EVENT, onReleased)
    if (stream.ready === false) stream.once('ready', send)
    else send()
  })
}
