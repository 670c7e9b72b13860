/** [main] Registers a release, and has what is logged from then on carry its id. */
import type { TransportHooks } from '../../client/retrying-caller.js'
import type { CallOptions, IngestClientOptions } from '../../client/index.js'
import { processEnv } from '../../options/process-env.js'
import { withClient } from '../../client/with-client.js'
import { findRelease } from '../../client/release/release-facts.js'
import type { GivenRelease } from '../../client/release/release-facts.js'
import { notifyRelease } from './release-notification.js'

export type RegisterReleaseOptions = GivenRelease &
  IngestClientOptions &
  CallOptions & {
    /** A pino logger whose later entries are to carry the id: also its children, and what shares its stream. */
    logger?: object | undefined
    /** Folder of the clone and the package. Default: the process's. */
    cwd?: string | undefined
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
  const releaseId = await findAndRegisterRelease(others)
  if (logger !== undefined) await notifyRelease(logger, releaseId)
  return releaseId
}

/** As `registerRelease`, for a transport, which takes the id itself. */
export function findAndRegisterRelease(
  options: Omit<RegisterReleaseOptions, 'logger'>,
  wiring?: TransportHooks,
): Promise<string> {
  const { version, commit_hash, branch, deployed_by, changelog, cwd, signal, ...clientOptions } = options
  const given = { version, commit_hash, branch, deployed_by, changelog }
  return withClient(
    clientOptions,
    async (client) => {
      const release = await findRelease(given, { env: processEnv(), cwd: cwd ?? process.cwd() })
      return (await client.registerRelease(release, { signal })).release_id
    },
    wiring,
  )
}
