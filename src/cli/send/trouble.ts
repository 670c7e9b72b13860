/** Why there is no use in going on. Pure. */
import type { Misconfigured } from '../../sender.js'

export function hopelessness({ status, reason }: Misconfigured): string {
  return `${headline(status)}: ${reason}`
}

function headline(status: number | undefined): string {
  if (status === undefined) return 'the local service cannot be used'
  if (status === 401 || status === 403) return `the service refuses the key (status ${status}), check PINO_INGEST_API_KEY`
  if (status === 400 || status === 413 || status === 422) {
    return `the service, or a gateway before it, refuses what is left (status ${status}) and names no entry, check the URL`
  }
  return `the url is not that of the service (status ${status}), check it`
}
