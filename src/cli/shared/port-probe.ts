/** Checks whether a local service listens at an address. */
import { get } from 'node:http'
import { isLocalService } from '../../shared/local-proof.js'

/** Short, since the listener is on this machine. */
const TIMEOUT_MS = 1_000

export type PortOwner = 'local-service' | 'other' | 'none'

/** Sends no token, since the listener may not be a local service. Never rejects. */
export function probePort(origin: string): Promise<PortOwner> {
  return new Promise((resolve) => {
    const request = get(
      `${origin}/local/status`,
      { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) },
      ({ statusCode, headers }) => {
        resolve(statusCode === 401 && isLocalService(headers['www-authenticate']) ? 'local-service' : 'other')
        request.destroy()
      },
    )
    request.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'none' : 'other'))
  })
}
