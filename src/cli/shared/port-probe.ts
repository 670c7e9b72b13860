/** Who listens at an address: perhaps a local service. */
import { get } from 'node:http'
import { isLocalService } from '../../shared/local-proof.js'

/** It is on this machine. */
const TIMEOUT_MS = 1_000

export type PortOwner = 'local-service' | 'other' | 'nobody'

/** It is asked without a token, and so for nothing but its name. Never rejects. */
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
    request.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED' ? 'nobody' : 'other'))
  })
}
