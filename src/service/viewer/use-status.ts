/** The service's status, and the attention counts: errors since the view of errors was open, and late monitors. */
import { useEffect, useState } from 'preact/hooks'
import type { MonitorSummary, ServiceStatus } from '../query/api-types.js'
import type { LevelCounts } from '../store/stored-record.js'
import { useChanges } from './changes.js'
import { useNow } from './use-now.js'
import type { AttentionCounts } from './shell/header.js'
import { useQuery } from './use-query.js'
import type { ViewName } from './view.js'
import { toMonitorState } from './views/monitor-state.js'

/** Refreshes also without events, because the stream does not report entries that the filters exclude, and rests in a hidden tab. */
const REFRESH_MS = 5_000
const HIDDEN_REFRESH_MS = 10_000

export function useStatus(): ServiceStatus | undefined {
  const changes = useChanges('entry', 'request', 'feedback', 'release', 'heartbeat', 'rejected')
  const nowMs = useNow(REFRESH_MS)
  return useQuery<ServiceStatus>('status', {}, changes + nowMs).data
}

export function useAttentionCounts(name: ViewName, status: ServiceStatus | undefined): AttentionCounts {
  const [seenMs, setSeen] = useState(Date.now)
  const nowMs = useNow(HIDDEN_REFRESH_MS, true)
  useEffect(() => {
    if (name !== 'errors') return undefined
    setSeen(Date.now())
    return () => setSeen(Date.now())
  }, [name])
  const changes = useChanges('entry')
  const since = new Date(seenMs).toISOString()
  const counts = useQuery<LevelCounts>(
    name === 'errors' ? null : 'counts',
    { level: 'error,fatal', since },
    changes + nowMs,
  )
  const hasMonitors = (status?.stored.heartbeat ?? 0) > 0
  const monitors = useQuery<{ readonly items: readonly MonitorSummary[] }>(hasMonitors ? 'monitors' : null, {}, nowMs)
  return {
    errors: counts.data?.total ?? 0,
    monitors: monitors.data?.items.filter((monitor) => toMonitorState(monitor, nowMs).name === 'late').length ?? 0,
  }
}
