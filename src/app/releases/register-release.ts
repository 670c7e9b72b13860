/** [main] Registers a release, and sets its id on the entries that are logged afterwards. */
import { checkArgument, isObject, readOptions } from '../../shared/argument-checks.js'
import { registerDetectedRelease } from '../../client/release/register-detected-release.js'
import type { DetectedReleaseOptions } from '../../client/release/register-detected-release.js'
import { notifyRelease } from './release-notification.js'

/** Options of `registerRelease()`: fields of the release, which are detected if missing, those of `IngestClient` and of a call, and a logger. */
export type RegisterReleaseOptions = DetectedReleaseOptions & {
  /** A pino logger. Its later entries, and those of loggers that share its stream, carry the id. */
  logger?: object | undefined
}

/**
 * Registers a release (`POST /releases/register`, docs/protocol-decisions.md). Version, commit, branch and author of the deployment are detected
 * if they are not given: in `PINO_INGEST_VERSION`, `_COMMIT`, `_BRANCH`, `_DEPLOYED_BY`, in the variables of the CI or hosting
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
