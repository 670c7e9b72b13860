/** [main] Registers a release, and has what is logged from then on carry its id. */
import { registerFoundRelease } from '../../client/release/register-found-release.js'
import type { FoundReleaseOptions } from '../../client/release/register-found-release.js'
import { notifyRelease } from './release-notification.js'

export type RegisterReleaseOptions = FoundReleaseOptions & {
  /** A pino logger whose later entries are to carry the id: also its children, and what shares its stream. */
  logger?: object | undefined
}

/**
 * Registers a release (interface: POST /releases/register). Version, commit, branch and who deployed it are found where they
 * are not given: in `PINO_INGEST_VERSION`, `_COMMIT`, `_BRANCH`, `_DEPLOYED_BY`, in the variables of the CI or hosting
 * provider, in package.json, and in the git clone around `cwd`. URL and key are those of `IngestClient`.
 *
 * @returns its id. With `logger`, once the transport behind it knows it; one that does not answer is waited for 1 s.
 * @throws IngestError `CONFIG` where the configuration or a version is missing; all that `IngestClient` throws.
 */
export async function registerRelease(options: RegisterReleaseOptions = {}): Promise<string> {
  const { logger, ...others } = options
  const releaseId = await registerFoundRelease(others)
  if (logger !== undefined) await notifyRelease(logger, releaseId)
  return releaseId
}
