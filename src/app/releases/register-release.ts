/** [main] Registers a release, and sets its id on the entries that are logged afterwards. */
import { checkArgument, isObject, readOptions } from '../../shared/argument-checks.js'
import { registerDetectedRelease } from '../../client/release/register-detected-release.js'
import type { DetectedReleaseOptions } from '../../client/release/register-detected-release.js'
import { systemClock } from '../../shared/clock.js'
import type { Clock } from '../../shared/clock.js'
import { RELEASED_EVENT, RELEASE_METHOD } from '../../transport/worker-messages.js'
import type { Releasable, ReleaseMessage } from '../../transport/worker-messages.js'
import { isWorkerStream, findLoggerStreams } from '../logger/logger-streams.js'

/** Options of `registerRelease()`: fields of the release, which are detected if missing, those of `IngestClient` and of a call, and a logger. */
export type RegisterReleaseOptions = DetectedReleaseOptions & {
  /** A pino logger. Its later entries, and those of loggers that share its stream, carry the id. */
  logger?: object | undefined
}

/**
 * Registers a release (`POST /releases/register`, docs/protocol.md). Version, commit, branch and author of the deployment are detected
 * if they are not given: in `PINO_INGEST_VERSION`, `PINO_INGEST_DEPLOY_*`, in the variables of the CI or hosting
 * provider, in package.json, and by running `git` in `cwd`. URL and key are those of `IngestClient`.
 *
 * @returns its id. With `logger`, as soon as the transport behind it has the id, or after 1 s without its answer.
 * @throws IngestError `CONFIG` if the configuration or a version is missing, or an option has another type; all that `IngestClient` throws.
 */
export async function registerRelease(options: RegisterReleaseOptions = {}): Promise<string> {
  const { logger, ...others } = readOptions('registerRelease()', options)
  checkArgument('logger of registerRelease()', 'a pino logger', logger === undefined || isObject(logger), logger)
  const releaseId = await registerDetectedRelease(others)
  if (logger !== undefined) await notifyRelease(logger, releaseId)
  return releaseId
}

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
