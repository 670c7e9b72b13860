/** Why there is no use in going on. Pure. */
import { describeFailure } from '../../delivery/retry/failure-reporter.js'
import type { EndpointRejected } from '../../batch/sender.js'

export function hopelessness(failure: EndpointRejected): string {
  return `${headline(failure.status)}: ${describeFailure(failure)}`
}

function headline(status: number | undefined): string {
  if (status === undefined) return 'the local service cannot be used'
  if (status === 401 || status === 403) return 'the service refuses the key, check PINO_INGEST_API_KEY'
  if (status === 400 || status === 413 || status === 422) {
    return 'the service, or a gateway before it, refuses what is left and names no entry, check the URL'
  }
  return 'the url is not that of the service, check it'
}
