/** Counts what needs a look: errors since the view of errors was open, and late monitors. */
import { useEffect, useState } from 'preact/hooks'
import type { MonitorSummary, ServiceStatus } from '../query/api-types.js'
import type { LevelCounts } from '../store/stored-record.js'
import { useChanges } from './changes.js'
import { useQuery } from './use-query.js'
import { useTick } from './use-tick.js'
import type { Marks } from './shell/marks.js'
import type { ViewName } from './view.js'
import { toMonitorState } from './views/monitor-state.js'

/** The stream rests in a hidden tab, whose title and icon are still seen. */
const REFRESH_MS = 10_000

export function useMarks(name: ViewName, status: ServiceStatus | undefined): Marks {
  const [seenMs, setSeen] = useState(Date.now)
  const nowMs = useTick(REFRESH_MS)
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
