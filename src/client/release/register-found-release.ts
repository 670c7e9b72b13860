/** Finds the facts of a release, and registers it. */
import { processEnv } from '../../options/process-env.js'
import type { CallOptions, IngestClientOptions } from '../index.js'
import type { TransportHooks } from '../retrying-caller.js'
import { withClient } from '../with-client.js'
import { findRelease } from './release-facts.js'
import type { GivenRelease } from './release-facts.js'

export type FoundReleaseOptions = GivenRelease &
  IngestClientOptions &
  CallOptions & {
    /** Folder of the clone and the package. Default: the process's. */
    cwd?: string | undefined
  }

/** @returns the id. @throws as `registerRelease` */
export function registerFoundRelease(options: FoundReleaseOptions, hooks?: TransportHooks): Promise<string> {
  const { version, commit_hash, branch, deployed_by, changelog, cwd, signal, ...clientOptions } = options
  const given = { version, commit_hash, branch, deployed_by, changelog }
  return withClient(
    clientOptions,
    async (client) => {
      const release = await findRelease(given, { env: processEnv(), cwd: cwd ?? process.cwd() })
      return (await client.registerRelease(release, { signal })).release_id
    },
    hooks,
  )
}
