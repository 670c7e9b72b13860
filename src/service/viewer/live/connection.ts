/** The page's stream, connected to browser APIs. */
import type { ServiceStatus } from '../../query/api-types.js'
import { get, request } from '../api.js'
import { announceChange } from '../changes.js'
import { LiveStream } from './live-stream.js'

export const live = new LiveStream({
  open: (parameters, headers, signal) => request('stream', parameters, headers, signal),
  readStatus: (signal) => get<ServiceStatus>('status', {}, signal),
  onChange: announceChange,
  later: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  // Only in a secure context: the address of another host has no locks.
  ...('locks' in navigator && { tryLock }),
})

function tryLock(name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) =>
      lock === null ? resolve(undefined) : new Promise<void>((release) => resolve(release)),
    )
  })
}

/** Closes the connection in background tabs, because browsers limit connections per origin. */
export function restWhileHidden(): void {
  const follow = (): void => live.rest(document.hidden)
  addEventListener('visibilitychange', follow)
  follow()
}
