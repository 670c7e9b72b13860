/** Registers the release of a transport that was told to, by the transport's own settings. */
import { registerRelease } from '../app/release.js'
import type { Settings } from '../options.js'

/** @throws as `registerRelease` */
export function registerOf(settings: Settings): (signal: AbortSignal) => Promise<string> {
  const { url, apiKey, isLocalDefault, allowInsecure, tls, proxy, noProxy, requestTimeoutMs, retryMinMs, retryMaxMs, version, deploy } = settings
  return (signal) => registerRelease({
    signal, allowInsecure, tls, requestTimeoutMs, retryMinMs, retryMaxMs, version,
    commit_hash: deploy?.commit, branch: deploy?.branch, deployed_by: deploy?.deployed_by,
    ...(!isLocalDefault && { url, apiKey: apiKey.reveal() }),
    // With exceptions it came from the environment, where the client finds both.
    ...(noProxy === '' && { proxy }),
  })
}
