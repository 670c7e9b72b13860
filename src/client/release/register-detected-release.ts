/** Registers a release whose missing fields are detected. Used by the application's helper, the transport and the command line. */
import { readAppPackage } from '../../options/app-package.js'
import { readProcessEnv } from '../../options/process-env.js'
import { revealAll } from '../../options/secret.js'
import type { Settings } from '../../options/settings.js'
import { checkArgument } from '../../shared/argument-checks.js'
import type { CallOptions, IngestClient, IngestClientOptions } from '../index.js'
import type { TransportHooks } from '../retrying-caller.js'
import { withClient } from '../with-client.js'
import { findRelease } from './release-facts.js'
import type { GivenRelease } from './release-facts.js'

export type DetectedReleaseOptions = GivenRelease &
  IngestClientOptions &
  CallOptions & {
    /** Folder of the clone and the package. Default: the process's. */
    cwd?: string | undefined
  }

/** In the application's thread, a request keeps the process alive. */
const MAX_REQUEST_MS = 5_000

/** The options of a transport's registration, which makes one attempt. */
export function toReleaseOptions(settings: Settings): DetectedReleaseOptions {
  const { url, apiKey, headers, allowInsecure, tls, proxy, requestTimeoutMs, version, deploy } = settings
  return {
    url,
    apiKey: apiKey.reveal(),
    headers: revealAll(headers),
    allowInsecure,
    tls,
    proxy,
    version,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(requestTimeoutMs, MAX_REQUEST_MS),
    commit_hash: deploy?.commit,
    branch: deploy?.branch,
    deployed_by: deploy?.deployed_by,
  }
}

/** @returns the release id. Rejects as `registerRelease` */
export function registerDetectedRelease(options: DetectedReleaseOptions, hooks?: TransportHooks): Promise<string> {
  const { version, commit_hash, branch, deployed_by, changelog, cwd: folder, signal, ...clientOptions } = options
  const cwd = folder === undefined ? process.cwd() : folder
  checkArgument('cwd of registerRelease()', 'a path', typeof cwd === 'string', cwd)
  const call = async (client: IngestClient): Promise<string> => {
    const release = await findRelease(
      { version, commit_hash, branch, deployed_by, changelog },
      { env: readProcessEnv(), cwd, ...(folder === undefined && { appVersion: readAppPackage().version }) },
    )
    return (await client.registerRelease(release, { signal })).release_id
  }
  return withClient(clientOptions, call, hooks)
}
