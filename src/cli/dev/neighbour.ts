/** Who holds a port that is taken: perhaps another local service. */
import { get } from 'node:http'

/** It is on this machine. */
const TIMEOUT_MS = 1_000

/** Whether a local service of this package answers there. It is asked without a token, and so for nothing but its name. Never rejects. */
export function isLocalService(origin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(`${origin}/local/status`, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, ({ statusCode, headers }) => {
      resolve(statusCode === 401 && isOurs(headers['www-authenticate']))
      request.destroy()
    })
    request.on('error', () => resolve(false))
  })
}

/** What the service answers who has no token. */
export function isOurs(challenge: string | undefined): boolean {
  return /^Bearer\b.*\bpino-ingest\b/i.test(challenge ?? '')
}
