/** Provides the service's status, kept up to date. */
import { useEffect, useState } from 'preact/hooks'
import type { ServiceStatus } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { useQuery } from '../use-query.js'

/** Refreshes also without events, because the stream does not report entries that the filters exclude. */
const REFRESH_MS = 5000

export function useStatus(): ServiceStatus | undefined {
  const changes = useChanges('entry', 'request', 'feedback', 'release', 'heartbeat', 'rejected')
  const [ticks, setTicks] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setTicks((old) => old + 1)
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  return useQuery<ServiceStatus>('status', {}, changes + ticks).data
}
