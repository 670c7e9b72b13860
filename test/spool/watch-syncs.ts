/** Records how much of each segment was synchronized. */
import { fstatSync, readlinkSync, statSync } from 'node:fs'
import { replaceCalls } from './disk-faults.js'
import { filesBelow, keyOf } from './disk-image.js'

const synced = new Map<string, number>()

function record(fd: number): void {
  synced.set(keyOf(readlinkSync(`/proc/self/fd/${fd}`)), fstatSync(fd).size)
}

/** @returns a function that restores the calls */
export function watchSyncs(): () => void {
  return replaceCalls({
    fdatasyncSync: record,
    fdatasync: (fd: number, done: (error: null) => void): void => {
      record(fd)
      setImmediate(done, null)
    },
  })
}

export function syncedBytes(path: string): number {
  return synced.get(keyOf(path)) ?? 0
}

/** The kernel writes everything some time after a process ended. */
export function allIsSynced(root: string): void {
  synced.clear()
  for (const path of filesBelow(root)) if (path.endsWith('.seg')) synced.set(keyOf(path), statSync(path).size)
}
