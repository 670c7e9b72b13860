/** Notifies views when records are stored. */
import { useEffect, useState } from 'preact/hooks'
import type { RecordKind } from '../store/stored-record.js'

const MIN_INTERVAL_MS = 1000

const listeners = new Set<(kinds: readonly RecordKind[]) => void>()

export function announceChange(kinds: readonly RecordKind[]): void {
  for (const listener of listeners) listener(kinds)
}

/** Returns a counter that increases when records of these kinds are stored, at most once a second. */
export function useChanges(...kinds: RecordKind[]): number {
  const [version, setVersion] = useState(0)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let notifiedMs = -Infinity
    const notify = (): void => {
      timer = undefined
      notifiedMs = performance.now()
      setVersion((old) => old + 1)
    }
    const listener = (changed: readonly RecordKind[]): void => {
      if (timer !== undefined || !changed.some((kind) => kinds.includes(kind))) return
      timer = setTimeout(notify, Math.max(0, notifiedMs + MIN_INTERVAL_MS - performance.now()))
    }
    listeners.add(listener)
    return () => {
      clearTimeout(timer)
      listeners.delete(listener)
    }
  }, [kinds.join()])
  return version
}
