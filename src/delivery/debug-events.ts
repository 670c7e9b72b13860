/** Writes a line for each attempt, its reply, and each decision. A subscriber of delivery's events. */
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { DebugLog } from '../diagnostics/debug-log.js'
import { VERSION } from '../version.js'
import type { DeliveryEvent } from './delivery-event.js'
import type { Job } from './job.js'

export function createDebugListener(log: DebugLog): (event: DeliveryEvent) => void {
  log(`pino-ingest ${VERSION}, Node ${process.versions.node}`)
  let limit = 1
  let isFailing = false
  return (event) => {
    switch (event.kind) {
      case 'sent': {
        const { batch, attempts, standing } = event.job
        if (limit !== (limit = event.limit)) log(`concurrency ${limit}`)
        const part = batch.origin === undefined ? '' : ` part of ${batch.origin.batchId}, ${describeSize(batch)}`
        const again = attempts > 0 || standing.kind !== 'fresh' ? ' sent again' : ''
        const probe = event.isProbe ? ' probe while the log service fails' : ''
        if (part !== '' || again !== '' || probe !== '')
          log(`${name(event.job)}:${[part, again, probe].filter((text) => text !== '').join(',')}`)
        return
      }
      case 'replied':
        return log(`${name(event.job)}: ${describe(event.outcome)}, took ${ms(event.tookMs)}`)
      case 'failed':
        isFailing = true
        return log(`log service ${event.health.kind}: ${describe(event.failure)}, next attempt in ${ms(event.waitMs)}`)
      case 'paused':
        return log(`wait ${ms(event.delayMs)}: Retry-After of the log service`)
      case 'accepted':
        if (isFailing) log('log service accepts entries again')
        isFailing = false
        return
      case 'settled':
        return
    }
  }
}

function name({ batch, attempts }: Job): string {
  return `batch ${batch.batchId}, attempt ${attempts + 1}`
}

/** Entries and bytes of a batch, and where it is stored. */
export function describeSize({ count, body, place, acknowledgement }: Batch): string {
  const bytes = body.length === 0 ? 'body on disk only' : `${body.length} bytes`
  return `${count} ${count === 1 ? 'entry' : 'entries'}, ${bytes}, ${(place ?? acknowledgement) ? 'on disk' : 'in memory'}`
}

/** Without the text of a reply, which may quote an entry. */
function describe(outcome: Outcome): string {
  const status = 'status' in outcome && outcome.status !== undefined ? `status ${outcome.status}, ` : ''
  if (outcome.kind === 'delivered') return `${status}accepted ${outcome.accepted}, rejected ${outcome.rejected.length}`
  if (outcome.kind === 'refused') return `${status}refused, named ${outcome.rejected.length}`
  return status === '' && 'reason' in outcome ? `${outcome.kind}, ${outcome.reason}` : `${status}${outcome.kind}`
}

function ms(duration: number): string {
  return `${Math.round(duration)} ms`
}
